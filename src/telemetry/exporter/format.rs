//! The two formats of a scrape, and which one a scraper asks for.
//!
//! The registry writes the text format of Prometheus. OpenMetrics is the same lines with three
//! differences: a counter's family has no `_total`, label values of buckets are floating-point numbers,
//! and the text ends with a mark, so that a scraper knows that it has all of it. That mark is the use.

/// The text format of Prometheus.
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";
/// OpenMetrics 1.0.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// The name by which a scraper asks for it.
const OPEN_METRICS_TYPE: &str = "application/openmetrics-text";
/// The name by which a scraper asks for the plain one.
const TEXT_TYPE: &str = "text/plain";
/// Ranges of an `Accept` that are looked at. The head has a bound of its own; a scraper sends five.
const RANGES_MAX: usize = 64;
/// What the name of a counter ends with, and the name of its family does not.
const TOTAL: &str = "_total";

/// A format of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Text,
    OpenMetrics,
}

impl Format {
    /// Returns what the head of a request asks for: the format that its `Accept` ranks higher, each by the most
    /// exact range that names it. OpenMetrics goes only to those who name it and do not rank the plain
    /// text above it; of equals it is chosen. A rank that is no number is 0.
    pub(super) fn asked_in(head: &[u8]) -> Self {
        let head = String::from_utf8_lossy(head);
        let fields = head.lines().skip(1).take_while(|line| !line.is_empty());
        let accepts = fields.filter_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("accept").then_some(value)
        });
        let ranges: Vec<Range<'_>> = accepts
            .flat_map(|value| value.split(','))
            .map(Range::of)
            .take(RANGES_MAX)
            .collect();
        let rank_of = |names: &[&str]| {
            let rank = |name: &&str| {
                let named = ranges.iter().filter(|range| range.is(name));
                named.map(|range| range.rank).reduce(f32::max)
            };
            names.iter().find_map(rank)
        };
        let open_metrics = rank_of(&[OPEN_METRICS_TYPE]).unwrap_or(0.0);
        let text = rank_of(&[TEXT_TYPE, "text/*", "*/*"]).unwrap_or(0.0);
        if open_metrics > 0.0 && open_metrics >= text {
            Self::OpenMetrics
        } else {
            Self::Text
        }
    }

    /// Returns the content type.
    pub(super) fn content_type(self) -> &'static str {
        match self {
            Self::Text => TEXT,
            Self::OpenMetrics => OPEN_METRICS,
        }
    }

    /// Returns the text of the registry in this format.
    pub(super) fn of(self, text: String) -> String {
        match self {
            Self::Text => text,
            Self::OpenMetrics => open_metrics(&text),
        }
    }
}

/// One range of an `Accept`.
#[derive(Debug, Clone, Copy)]
struct Range<'a> {
    name: &'a str,
    /// 0 to 1; 1 when it has none.
    rank: f32,
}

impl<'a> Range<'a> {
    fn of(text: &'a str) -> Self {
        let mut parts = text.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let rank = parts.find_map(|part| {
            let (key, value) = part.split_once('=')?;
            let is_rank = key.trim_end().eq_ignore_ascii_case("q");
            is_rank.then(|| value.trim_start())
        });
        let number = |rank: &str| rank.parse::<f32>().ok().filter(|rank| rank.is_finite());
        let rank = rank.map_or(1.0, |rank| number(rank).unwrap_or(0.0).clamp(0.0, 1.0));
        Self { name, rank }
    }

    fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }
}

fn open_metrics(text: &str) -> String {
    let mut out = String::with_capacity(text.len().saturating_add(16));
    // Lines of a family stand together, its HELP and TYPE first; an empty line is not permitted.
    let counters: Vec<&str> = text.lines().filter_map(counter_of).collect();
    for line in text.lines().filter(|line| !line.is_empty()) {
        match described(line) {
            Some((word, name, rest)) if counters.contains(&name) => {
                let family = name.strip_suffix(TOTAL).unwrap_or(name);
                out.push_str(&format!("# {word} {family} {rest}"));
            }
            Some(_) => out.push_str(line),
            None => out.push_str(&float_bound(line)),
        }
        out.push('\n');
    }
    out.push_str("# EOF\n");
    out
}

/// Returns word, name and rest of a `# HELP` or `# TYPE` line.
fn described(line: &str) -> Option<(&str, &str, &str)> {
    let (word, rest) = line.strip_prefix("# ")?.split_once(' ')?;
    let (name, rest) = rest.split_once(' ')?;
    ["HELP", "TYPE"]
        .contains(&word)
        .then_some((word, name, rest))
}

fn counter_of(line: &str) -> Option<&str> {
    let (word, name, rest) = described(line)?;
    (word == "TYPE" && rest == "counter").then_some(name)
}

/// Returns a sample with the bound of its bucket as a floating-point number: `le="1"` is `le="1.0"`.
fn float_bound(line: &str) -> String {
    const LE: &str = "le=\"";
    let found = line.find(LE).and_then(|at| {
        let (before, bound) = line.split_at_checked(at.checked_add(LE.len())?)?;
        let (bound, after) = bound.split_once('"')?;
        let whole = !bound.is_empty() && bound.bytes().all(|byte| byte.is_ascii_digit());
        whole.then(|| format!("{before}{bound}.0\"{after}"))
    });
    found.unwrap_or_else(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(accept: &str) -> Format {
        Format::asked_in(format!("GET /metrics HTTP/1.1\r\n{accept}\r\n\r\n").as_bytes())
    }

    #[test]
    fn a_scraper_gets_open_metrics_when_it_asks_for_it() {
        for accept in [
            "Accept: application/openmetrics-text",
            "accept:application/openmetrics-text;version=1.0.0,application/openmetrics-text;\
             version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
            "Accept: text/plain;q=0.5, Application/OpenMetrics-Text; q=0.9",
            "Accept: application/openmetrics-text;q=0.3, text/*;q=0.2, */*",
            "Accept: application/openmetrics-text;q=0.5, text/plain;q=0.5",
            "Accept: text/plain;q=x, application/openmetrics-text;q=0.1",
            "Accept: text/plain;q=0.4\r\nAccept: application/openmetrics-text;q=0.5",
        ] {
            assert_eq!(asked(accept), Format::OpenMetrics, "{accept}");
        }
        for accept in [
            "Host: rover",
            "Accept: */*",
            "Accept: text/plain",
            "Accept: application/openmetrics-text;q=0",
            "Accept: application/openmetrics-text;q=0.5, text/plain",
            "Accept: application/openmetrics-text;q=0.5, text/plain;version=0.0.4;q=0.6",
            "Accept: application/openmetrics-text;q=0.2, text/*;q=0.3",
            "Accept: application/openmetrics-text;q=0.2, */*;q=0.3",
            "Accept: application/openmetrics-text;q=inf, text/plain;q=0.1",
            "Accept: application/openmetrics-text;q=-1",
            "Accept: application/openmetrics-text; Q = 0.0",
            "\r\nAccept: application/openmetrics-text",
            "Accept: application/openmetrics-text;q=x",
            "X-Accept: application/openmetrics-text",
            "Accept application/openmetrics-text",
        ] {
            assert_eq!(asked(accept), Format::Text, "{accept}");
        }
        assert_eq!(Format::asked_in(&[0xff, b'\n', 0xfe]), Format::Text);
    }

    #[test]
    fn a_family_loses_total_a_bound_gains_a_point_and_the_end_is_marked() {
        let text = "# HELP a_total Counts a_total.\n# TYPE a_total counter\na_total{x=\"1\"} 2\n\n\
                    # HELP b_total No counter.\n# TYPE b_total gauge\nb_total 1\n\n\
                    # HELP c Takes.\n# TYPE c histogram\nc_bucket{le=\"1\"} 0\n\
                    c_bucket{t=\"le\",le=\"0.5\"} 1\nc_bucket{le=\"+Inf\"} 1\nc_sum 3\nc_count 1\n";
        let wanted = "# HELP a Counts a_total.\n# TYPE a counter\na_total{x=\"1\"} 2\n\
                      # HELP b_total No counter.\n# TYPE b_total gauge\nb_total 1\n\
                      # HELP c Takes.\n# TYPE c histogram\nc_bucket{le=\"1.0\"} 0\n\
                      c_bucket{t=\"le\",le=\"0.5\"} 1\nc_bucket{le=\"+Inf\"} 1\nc_sum 3\nc_count 1\n\
                      # EOF\n";
        assert_eq!(Format::OpenMetrics.of(text.to_owned()), wanted);
        assert_eq!(Format::Text.of(text.to_owned()), text);
    }
}

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
/// What the name of a counter ends with, and the name of its family does not.
const TOTAL: &str = "_total";

/// A format of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Text,
    OpenMetrics,
}

impl Format {
    /// Returns what the head of a request asks for: OpenMetrics when an `Accept` names it and does not
    /// rank it at 0.
    pub(super) fn asked_in(head: &[u8]) -> Self {
        let head = String::from_utf8_lossy(head);
        let fields = head.lines().skip(1).take_while(|line| !line.is_empty());
        let accepts = fields.filter_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("accept").then_some(value)
        });
        let mut ranges = accepts.flat_map(|value| value.split(','));
        if ranges.any(asks_for_open_metrics) {
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

fn asks_for_open_metrics(range: &str) -> bool {
    let mut parts = range.split(';').map(str::trim);
    let named = parts
        .next()
        .is_some_and(|name| name.eq_ignore_ascii_case(OPEN_METRICS_TYPE));
    let rank = parts.find_map(|part| {
        let (name, value) = part.split_once('=')?;
        name.trim_end()
            .eq_ignore_ascii_case("q")
            .then(|| value.trim_start())
    });
    named && rank.is_none_or(|rank| rank.parse::<f32>().is_ok_and(|rank| rank > 0.0))
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
        ] {
            assert_eq!(asked(accept), Format::OpenMetrics, "{accept}");
        }
        for accept in [
            "Host: rover",
            "Accept: */*",
            "Accept: text/plain",
            "Accept: application/openmetrics-text;q=0",
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

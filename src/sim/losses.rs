//! Requests that a simulated robot never hears, as if the dataflow had lost them and said nothing.
//!
//! dora may do so at any time and answer Ok; this does it when a rehearsal asks for it.

use std::str::FromStr;

use serde_json::Value;

/// Most requests of one verb that are lost. Chosen: far more than any stop repeats.
const LOST_MAX: u32 = 10_000;

/// The next requests of one verb are lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    verb: String,
    left: u32,
}

impl Loss {
    /// Returns whether this request is lost, which counts it.
    pub fn takes(&mut self, request: &str) -> bool {
        let verb = || -> Option<String> {
            let request: Value = serde_json::from_str(request).ok()?;
            Some(request.get("verb")?.as_str()?.to_owned())
        };
        let lost = self.left > 0 && verb().is_some_and(|verb| verb == self.verb);
        if lost {
            self.left = self.left.saturating_sub(1);
        }
        lost
    }

    /// Returns the verb.
    pub fn verb(&self) -> &str {
        &self.verb
    }
}

impl FromStr for Loss {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let problem = || format!("VERB=COUNT, with a count from 1 to {LOST_MAX}");
        let (verb, count) = text.rsplit_once('=').ok_or_else(problem)?;
        let left = count.parse().map_err(|_no_number| problem())?;
        if verb.is_empty() || !(1..=LOST_MAX).contains(&left) {
            return Err(problem());
        }
        let verb = verb.to_owned();
        Ok(Self { verb, left })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_requests_of_the_verb_are_lost_and_no_others() {
        let mut loss: Loss = "a.stop=2".parse().unwrap();
        let (stop, go) = (r#"{"verb":"a.stop"}"#, r#"{"verb":"a.go","x":"a.stop"}"#);
        let lost = [stop, go, "no json", stop, stop].map(|request| loss.takes(request));
        assert_eq!(lost, [true, false, false, true, false]);
    }

    #[test]
    fn what_is_no_loss_is_refused_and_names_its_form() {
        for text in [
            "",
            "a.stop",
            "=3",
            "a.stop=",
            "a.stop=0",
            "a.stop=10001",
            "a.stop=-1",
            "a=b",
        ] {
            let error = text.parse::<Loss>().unwrap_err();
            assert!(error.contains("VERB=COUNT"), "{text}: {error}");
        }
    }
}

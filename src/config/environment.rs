//! The environment, read once at start. Every name that the process reads is listed here or given
//! to an option of the command line.

use std::path::PathBuf;

/// What the environment says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// `STATE_DIRECTORY`, as a service manager sets it: the first of its paths.
    pub state_directory: Option<PathBuf>,
    /// The user's state home: `XDG_STATE_HOME`, else `HOME` + `/.local/state`.
    pub state_home: Option<PathBuf>,
    /// The variable that gave `state_home`.
    pub state_home_from: Option<&'static str>,
    /// `OCTOS_EDGE_LOG`: a filter of the log, such as `debug` or `octos_edge=trace`.
    pub log: Option<String>,
    /// `DORA_NODE_CONFIG`: what the daemon of dora tells a node that it starts.
    pub dora_node_config: Option<String>,
    /// `NO_COLOR`, when it is not empty: nothing is coloured.
    pub no_colour: bool,
    /// `DORA_TEST_WITH_INPUTS` and what belongs to it, unless dora started this process.
    pub replay: Option<ReplayFiles>,
    /// `DORA_WRITE_EVENTS_TO`: the folder into which dora writes what each node heard.
    pub record_to: Option<PathBuf>,
}

/// A recorded session that a node replays, by the variables of dora's own test facility.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayFiles {
    /// `DORA_TEST_WITH_INPUTS`: what the node hears.
    pub inputs: PathBuf,
    /// `DORA_TEST_WRITE_OUTPUTS_TO`, else `outputs.jsonl` beside the inputs: what it says.
    pub outputs: PathBuf,
    /// Whether each output says when; `DORA_TEST_NO_OUTPUT_TIME_OFFSET`, set to anything, says no.
    pub with_times: bool,
}

impl Environment {
    /// Every variable that is read here. Options of the command line have theirs in its help.
    pub const NAMES: [&str; 10] = [
        "DORA_NODE_CONFIG",
        "DORA_TEST_NO_OUTPUT_TIME_OFFSET",
        "DORA_TEST_WITH_INPUTS",
        "DORA_TEST_WRITE_OUTPUTS_TO",
        "DORA_WRITE_EVENTS_TO",
        "HOME",
        "NO_COLOR",
        "OCTOS_EDGE_LOG",
        "STATE_DIRECTORY",
        "XDG_STATE_HOME",
    ];

    /// Reads the environment of the process.
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the environment"
    )]
    pub fn read() -> Self {
        Self::of(&|name: &str| std::env::var(name).ok())
    }

    fn of(value: &dyn Fn(&str) -> Option<String>) -> Self {
        let filled = |name: &str| value(name).filter(|text| !text.is_empty());
        let xdg = filled("XDG_STATE_HOME")
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
            .map(|path| (path, "XDG_STATE_HOME"));
        let home = || Some((PathBuf::from(filled("HOME")?).join(".local/state"), "HOME"));
        let (state_home, state_home_from) = xdg.or_else(home).unzip();
        Self {
            state_directory: filled("STATE_DIRECTORY")
                .and_then(|paths| paths.split(':').next().map(PathBuf::from)),
            state_home,
            state_home_from,
            log: filled("OCTOS_EDGE_LOG"),
            dora_node_config: filled("DORA_NODE_CONFIG"),
            no_colour: filled("NO_COLOR").is_some(),
            replay: replay_files(value),
            record_to: filled("DORA_WRITE_EVENTS_TO").map(PathBuf::from),
        }
    }

    /// Returns the variable that gives the state folder when the command line does not.
    pub fn state_folder_from(&self) -> Option<&'static str> {
        match self.state_directory {
            Some(_) => Some("STATE_DIRECTORY"),
            None => self.state_home_from,
        }
    }

    /// Returns the state folder: `given`, else the service manager's, else the user's.
    pub fn state_folder(&self, given: Option<PathBuf>) -> Option<PathBuf> {
        given
            .or_else(|| self.state_directory.clone())
            .or_else(|| self.state_home.as_ref().map(|home| home.join("octos-edge")))
    }
}

/// Returns the session to replay. A node that dora started has a dataflow, as with dora itself.
fn replay_files(value: &dyn Fn(&str) -> Option<String>) -> Option<ReplayFiles> {
    if value("DORA_NODE_CONFIG").is_some() {
        return None;
    }
    let filled = |name: &str| value(name).filter(|text| !text.is_empty());
    let inputs = PathBuf::from(filled("DORA_TEST_WITH_INPUTS")?);
    Some(ReplayFiles {
        outputs: filled("DORA_TEST_WRITE_OUTPUTS_TO")
            .map_or_else(|| inputs.with_file_name("outputs.jsonl"), PathBuf::from),
        inputs,
        with_times: value("DORA_TEST_NO_OUTPUT_TIME_OFFSET").is_none(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(&str, &str)]) -> Environment {
        Environment::of(&|name: &str| {
            pairs
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn all_variables_that_are_read_are_listed() {
        let asked = std::cell::RefCell::new(std::collections::BTreeSet::new());
        for absent in [None, Some("HOME"), Some("DORA_NODE_CONFIG")] {
            Environment::of(&|name: &str| {
                asked.borrow_mut().insert(name.to_owned());
                absent
                    .filter(|absent| name != *absent)
                    .map(|_| "/x".to_owned())
            });
        }
        let asked = asked.into_inner();
        assert_eq!(asked.into_iter().collect::<Vec<_>>(), Environment::NAMES);
    }

    #[test]
    fn an_empty_no_color_is_none() {
        assert!(of(&[("NO_COLOR", "1")]).no_colour);
        assert!(!of(&[("NO_COLOR", "")]).no_colour);
    }

    #[test]
    fn a_session_is_replayed_unless_dora_started_the_process() {
        let inputs = ("DORA_TEST_WITH_INPUTS", "/s/in.json");
        let replay = |pairs: &[(&str, &str)]| of(pairs).replay;
        let files = |outputs: &str, with_times| {
            Some(ReplayFiles {
                inputs: "/s/in.json".into(),
                outputs: outputs.into(),
                with_times,
            })
        };
        assert_eq!(replay(&[inputs]), files("/s/outputs.jsonl", true));
        let told = [
            inputs,
            ("DORA_TEST_WRITE_OUTPUTS_TO", "out"),
            ("DORA_TEST_NO_OUTPUT_TIME_OFFSET", ""),
        ];
        assert_eq!(replay(&told), files("out", false));
        assert_eq!(replay(&[inputs, ("DORA_NODE_CONFIG", "")]), None);
        assert_eq!(replay(&[("DORA_TEST_WITH_INPUTS", "")]), None);
        assert_eq!(
            of(&[("DORA_WRITE_EVENTS_TO", "rec")]).record_to,
            Some("rec".into())
        );
    }

    #[test]
    fn the_variable_of_the_state_folder_is_told() {
        let from = |pairs: &[(&str, &str)]| of(pairs).state_folder_from();
        assert_eq!(
            from(&[("STATE_DIRECTORY", "/s"), ("HOME", "/h")]),
            Some("STATE_DIRECTORY")
        );
        assert_eq!(
            from(&[("XDG_STATE_HOME", "/x"), ("HOME", "/h")]),
            Some("XDG_STATE_HOME")
        );
        assert_eq!(
            from(&[("XDG_STATE_HOME", "x"), ("HOME", "/h")]),
            Some("HOME")
        );
        assert_eq!(from(&[]), None);
    }

    #[test]
    fn state_folder_is_the_flag_then_the_service_then_the_user() {
        let all = of(&[("STATE_DIRECTORY", "/var/lib/a:/b"), ("HOME", "/home/ann")]);
        assert_eq!(all.state_folder(Some("/x".into())), Some("/x".into()));
        assert_eq!(all.state_folder(None), Some("/var/lib/a".into()));
        let user = of(&[("HOME", "/home/ann")]);
        assert_eq!(
            user.state_folder(None),
            Some("/home/ann/.local/state/octos-edge".into())
        );
        let xdg = of(&[("HOME", "/home/ann"), ("XDG_STATE_HOME", "/s")]);
        assert_eq!(xdg.state_folder(None), Some("/s/octos-edge".into()));
        let relative = of(&[("XDG_STATE_HOME", "s")]);
        assert_eq!(
            relative.state_folder(None),
            None,
            "a relative state home is no home"
        );
    }
}

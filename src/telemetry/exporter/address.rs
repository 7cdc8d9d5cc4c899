//! Where metrics are served: an address of this machine, unless somebody says `public:` in so many
//! words. Whoever can read the numbers learns how a robot is used; there is no password before them.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

/// Stands before an address that other machines can reach.
const PUBLIC: &str = "public:";

/// An address to serve metrics at. Port 0 takes any free port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListenAddr(SocketAddr);

/// A text that is no address to serve metrics at.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ListenError {
    /// It is not an address and a port.
    #[error("metrics address `{found}` is not an IP address with a port")]
    Syntax {
        /// The text as it was written, cut to 80 characters.
        found: String,
    },
    /// Other machines could reach it, and the text does not say that they may.
    #[error("metrics address `{found}` can be reached from other machines")]
    NotLoopback {
        /// The address.
        found: SocketAddr,
    },
}

impl ListenError {
    /// Returns the way out.
    pub fn hint(&self) -> String {
        match self {
            Self::Syntax { .. } => {
                "write 127.0.0.1:9464 or [::1]:9464; port 0 takes a free one".to_owned()
            }
            Self::NotLoopback { found } => format!(
                "write 127.0.0.1:{}, or {PUBLIC}{found} to serve everybody who can reach it",
                found.port()
            ),
        }
    }
}

impl ListenAddr {
    /// Returns the address.
    pub fn socket(self) -> SocketAddr {
        self.0
    }

    /// Returns whether other machines may reach it.
    pub fn is_public(self) -> bool {
        !self.0.ip().is_loopback()
    }
}

impl FromStr for ListenAddr {
    type Err = ListenError;

    fn from_str(text: &str) -> Result<Self, ListenError> {
        let (may_be_public, written) = match text.strip_prefix(PUBLIC) {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let address = written.parse().map_err(|_bad| ListenError::Syntax {
            found: text.chars().take(80).collect(),
        })?;
        let parsed = Self(address);
        if parsed.is_public() && !may_be_public {
            return Err(ListenError::NotLoopback { found: address });
        }
        Ok(parsed)
    }
}

impl fmt::Display for ListenAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefix = if self.is_public() { PUBLIC } else { "" };
        write!(f, "{prefix}{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_served_and_everybody_only_in_so_many_words() {
        for own in ["127.0.0.1:9464", "127.3.2.1:0", "[::1]:9464"] {
            let parsed: ListenAddr = own.parse().unwrap();
            assert!(!parsed.is_public(), "{own}");
            assert_eq!(parsed.to_string(), own);
        }
        for public in [
            "0.0.0.0:9464",
            "[::]:1",
            "192.168.1.7:80",
            "[::ffff:127.0.0.1]:1",
        ] {
            let error = public.parse::<ListenAddr>().unwrap_err();
            assert!(
                error.hint().contains(&format!("public:{public}")),
                "{error}"
            );
            let told: ListenAddr = format!("public:{public}").parse().unwrap();
            assert!(told.is_public());
            assert_eq!(told.to_string().parse(), Ok(told));
        }
    }

    #[test]
    fn what_is_no_address_is_named() {
        for bad in [
            "",
            "9464",
            ":9464",
            "localhost:9464",
            "127.0.0.1",
            "127.0.0.1:99999",
            "public:",
        ] {
            let error = bad.parse::<ListenAddr>().unwrap_err();
            assert!(matches!(error, ListenError::Syntax { .. }), "{bad}");
        }
    }
}

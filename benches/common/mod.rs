//! What every bench needs: the machine it ran on, distributions, the table.

pub(crate) mod busy;
pub(crate) mod machine;
pub(crate) mod sample;
pub(crate) mod table;

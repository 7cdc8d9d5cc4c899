#!/usr/bin/env bash
# Every figure, one table after the other, each with the machine and its load: the benches, the same
# policy in cedar-policy, then size, memory and start. About an hour on two cores, most of it builds.
# Let nothing else run.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo bench --locked
cargo run --locked --release --manifest-path benches/peers/Cargo.toml
bash benches/figures.sh

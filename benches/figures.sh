#!/usr/bin/env bash
# Size, memory and start of the node build beside a bare dora node, as a table.
#
#   bash benches/figures.sh          builds both with the profile `dist`: about 20 minutes on two cores
#   bash benches/figures.sh dev      the same steps with what `cargo build` makes: checks this script only
#
# It needs no robot: the dev build of octos-edge plays the daemon and the rover.
set -euo pipefail
cd "$(dirname "$0")/.."

profile=${1:-dist}
target=${CARGO_TARGET_DIR:-target}
export CARGO_TARGET_DIR=$target
mkdir -p "$target"
target=$(cd "$target" && pwd)
folder=$profile
case $profile in
  dist) features=(--no-default-features --features dora) ;;
  dev) features=() folder=debug ;;
  *) echo "the profile is dist or dev" >&2; exit 2 ;;
esac

cargo build --locked --quiet # the daemon and the rover
cargo build --locked --quiet --profile "$profile" "${features[@]}" --bin octos-edge
cargo build --locked --quiet --profile "$profile" --manifest-path benches/bare-node/Cargo.toml

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$target/debug/octos-edge" "$work/daemon"
cp "$target/$folder/octos-edge" "$work/node"
cp "$target/$folder/bare-node" "$work/bare"

# One dataflow: the rover, our node and a bare node with the same inputs.
inputs() {
  cat <<EOF
    inputs:
      cmd_response: { source: rover/cmd_response, queue_size: 64 }
      capabilities: { source: rover/capabilities, queue_size: 4 }
      state: { source: rover/state, queue_size: 2 }
      safety_event: { source: rover/safety_event, queue_size: 64 }
    outputs: [cmd_request]
EOF
}
{
  cat <<EOF
nodes:
  - id: ours
    path: $work/node
    args: node --robot rover-sim --board sim
    env: { ROBOT_ID: rover-sim-001, OCTOS_EDGE_TIERS: $PWD/tiers, OCTOS_EDGE_BOARDS: $PWD/boards, OCTOS_EDGE_STATE: $work/state }
$(inputs)
  - id: bare
    path: $work/bare
$(inputs)
  - id: rover
    path: $work/daemon
    args: mock-robot --seed 7
    env: { ROBOT_ID: rover-sim-001 }
    inputs:
      tick: dora/timer/millis/50
      cmd_request: { source: ours/cmd_request, queue_size: 64 }
    outputs: [cmd_response, capabilities, state, safety_event]
EOF
} >"$work/flow.yml"

rss_kib() { # of the process that runs this file, once it idles
  local file=$1 exe pid
  for exe in /proc/[0-9]*/exe; do
    [ "$(readlink "$exe" 2>/dev/null)" = "$file" ] || continue
    pid=${exe#/proc/} pid=${pid%/exe}
    awk '/^VmRSS/ { print $2 }' "/proc/$pid/status"
    return
  done
  echo 0
}

"$work/daemon" run "$work/flow.yml" --stop-after 20s --quiet >"$work/run.log" 2>&1 &
daemon=$!
sleep 12
ours_kib=$(rss_kib "$work/node")
bare_kib=$(rss_kib "$work/bare")
wait "$daemon" || { cat "$work/run.log"; exit 1; }

# A start without dora: files are read and judged, then no daemon is found (66). Beside it /bin/true.
starts=50
one_start_us() {
  local began=$EPOCHREALTIME ended
  "$@" >/dev/null 2>&1 || true
  ended=$EPOCHREALTIME
  echo $((${ended/[.,]/} - ${began/[.,]/}))
}
median_us() {
  for _ in $(seq $starts); do one_start_us "$@"; done | sort -n | sed -n "$((starts / 2))p"
}
export OCTOS_EDGE_STATE=$work/state
node_us=$(median_us "$work/node" node --robot rover-sim --board sim)
true_us=$(median_us /bin/true)

bytes() { stat -c %s "$1"; }
missed=()
row() { # what, figure, floor, unit, what the goal bounds (ratio or figure), goal, why it may be missed
  local line
  line=$(awk -v what="$1" -v a="$2" -v b="$3" -v unit="$4" -v bounds="$5" -v goal="$6" 'BEGIN {
    ratio = b > 0 ? a / b : 0
    reached = (bounds == "ratio" ? ratio : a) <= goal ? "yes" : "NO"
    printf "%-42s %10.2f %-4s %10.2f %-4s %6.2fx  %-14s %s\n", what, a, unit, b, unit, ratio, \
      goal (bounds == "ratio" ? "x" : " " unit), reached
  }')
  echo "$line"
  case $line in *NO) missed+=("not reached: $1: $7") ;; esac
}
mib() { awk -v k="$1" 'BEGIN { print k / 1024 }'; }
ms() { awk -v u="$1" 'BEGIN { print u / 1000 }'; }

echo
echo "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1) · $(nproc) cores · Linux $(uname -r) · load $(cut -d' ' -f1 /proc/loadavg) · profile $profile"
printf '%-42s %15s %15s %7s  %-14s %s\n' what ours 'beside it' ratio goal reached
row "binary, beside a bare dora node" "$(mib $(($(bytes "$work/node") / 1024)))" "$(mib $(($(bytes "$work/bare") / 1024)))" MiB ratio 1.3 \
  "argument schemas (jsonschema), readers of the files and the command line are in it, and a bare node has none"
row "resident memory, idle, beside a bare node" "$(mib "$ours_kib")" "$(mib "$bare_kib")" MiB ratio 1.4 \
  "catalog, rules, black box and the threads of a node"
row "start without dora, beside /bin/true" "$(ms "$node_us")" "$(ms "$true_us")" ms figure 10 \
  "files are read and schemas compiled; a loaded machine shows here first"
for line in ${missed[@]+"${missed[@]}"}; do echo "$line"; done

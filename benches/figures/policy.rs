//! Deciding over one thousand tools under five layers, and the look-up in a pinned view.

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::Arc;

use octos_edge::catalog::{CallCx, CatalogBuilder, RawTool, ToolView};
use octos_edge::gate::PolicyStack;
use octos_edge::terms::{Descriptor, ToolError};
use serde_json::{Map, Value};

use crate::common::sample::{Batches, Dist, in_turns};
use crate::common::table::Row;
use crate::scene;

/// Tools of the small and of the large catalog that are compared.
pub(crate) const SMALL: u32 = 10;
pub(crate) const LARGE: u32 = 10_000;

const BATCHES: Batches = Batches {
    count: 2_000,
    ops: 500,
};

/// A tool that does nothing.
#[derive(Debug)]
pub(crate) struct Idle(pub(crate) Descriptor);

impl RawTool for Idle {
    fn describe(&self) -> Descriptor {
        self.0.clone()
    }

    fn run<'a>(
        &'a self,
        _cx: CallCx<'a>,
        _args: Map<String, Value>,
    ) -> futures::future::BoxFuture<'a, Result<String, ToolError>> {
        Box::pin(futures::future::ready(Ok(String::new())))
    }
}

/// A view of so many tools under the policy of the scene.
pub(crate) fn view(count: u32) -> Arc<ToolView> {
    let tools = scene::tools(count).into_iter();
    let catalog = tools.fold(CatalogBuilder::new(), |catalog, tool| {
        catalog.raw(Arc::new(Idle(tool)))
    });
    catalog.build().unwrap().view(&scene::stack())
}

pub(crate) fn rows() -> Vec<Row> {
    let mut rows = decisions();
    rows.extend(look_ups());
    rows
}

fn decisions() -> Vec<Row> {
    let stack = scene::stack();
    let tools = scene::tools(scene::TOOLS);
    let (refused, permitted): (Vec<Descriptor>, Vec<Descriptor>) = tools
        .into_iter()
        .partition(|tool| stack.decide(tool).refusal().is_some());
    let (refused, permitted) = (scene::shuffled(refused), scene::shuffled(permitted));
    let names = permitted.iter().map(|tool| tool.name.to_string());
    let names: Vec<String> = names.collect();
    let table = table_of(&names);
    let floor = || get(&table, &names);
    let (ours, bare) = in_turns(BATCHES, decide(&stack, &permitted), floor());
    let (wording, bare_again) = in_turns(BATCHES, decide(&stack, &refused), floor());
    let scene = format!("{} tools, 5 layers, 200 rules", scene::TOOLS);
    vec![
        Row {
            goal: "100 ns, no allocation".to_owned(),
            reached: Some(ours.p50() <= 100.0),
            cause: "one look-up by name; it grows with the machine's memory latency".to_owned(),
            ..row(&format!("decide, permitted: {scene}"), &ours, &bare)
        },
        row(
            &format!("decide, refused: words why ({} tools)", refused.len()),
            &wording,
            &bare_again,
        ),
    ]
}

fn look_ups() -> Vec<Row> {
    let names = |count: u32| scene::shuffled((0..count).map(scene::name).collect::<Vec<_>>());
    let (small, middle, large) = (view(SMALL), view(scene::TOOLS), view(LARGE));
    let (few, some, many) = (names(SMALL), names(scene::TOOLS), names(LARGE));
    let (table, large_table) = (table_of(&some), table_of(&many));
    let (ours, bare) = in_turns(BATCHES, find(&middle, &some), get(&table, &some));
    let (cold, bare_cold) = in_turns(BATCHES, find(&large, &many), get(&large_table, &many));
    let (much, little) = in_turns(BATCHES, find(&large, &few), find(&small, &few));
    vec![
        row("look-up in a pinned view of 1,000 tools", &ours, &bare),
        row(
            "the same of 10,000 tools, all in random order",
            &cold,
            &bare_cold,
        ),
        Row {
            what: format!("growth of the look-up of {SMALL} names, {SMALL} to {LARGE} tools"),
            figure: format!("p50 {:.0} ns", much.p50()),
            beside: format!("{SMALL} tools {:.0} ns", little.p50()),
            ratio: Some(much.p50() / little.p50()),
            goal: "2x".to_owned(),
            reached: Some(much.p50() <= 2.0 * little.p50()),
            cause: "one hash either way".to_owned(),
        },
    ]
}

/// The floor: a map of the standard library from name to number.
fn table_of(names: &[String]) -> HashMap<String, u32> {
    names.iter().cloned().zip(0..).collect()
}

/// Looks one name up after the other.
fn get<'a>(table: &'a HashMap<String, u32>, names: &'a [String]) -> impl FnMut() + 'a {
    let mut names = names.iter().cycle();
    move || {
        let found = names.next().and_then(|name| table.get(name));
        black_box(found.copied());
    }
}

/// Decides one tool after the other.
fn decide<'a>(stack: &'a PolicyStack, tools: &'a [Descriptor]) -> impl FnMut() + 'a {
    let mut tools = tools.iter().cycle();
    move || drop(black_box(tools.next().map(|tool| stack.decide(tool))))
}

/// Finds one name after the other.
fn find<'a>(view: &'a ToolView, names: &'a [String]) -> impl FnMut() + 'a {
    let mut names = names.iter().cycle();
    move || {
        let found = names.next().and_then(|name| view.find(name));
        black_box(found.map(|found| found.verdict.rank()));
    }
}

fn row(what: &str, ours: &Dist, bare: &Dist) -> Row {
    Row {
        what: what.to_owned(),
        figure: format!("p50 {:.0} ns, p99 {:.0} ns", ours.p50(), ours.p99()),
        beside: format!("a bare map look-up {:.0} ns", bare.p50()),
        ratio: Some(ours.p50() / bare.p50()),
        goal: "-".to_owned(),
        ..Row::default()
    }
}

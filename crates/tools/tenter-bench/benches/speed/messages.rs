//! Long conversations: saving one more exchange, loading, and resuming, with a growing number of messages. The time of saving must
//! be constant, the time of loading linear.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tenter_agent::Conversation;
use tenter_agent::store::{Exchange, HistoryEntry, NewConversation, Origin, Store};
use tenter_protocol::{Message, Role};

use crate::agent::{self, Ticks};
use crate::measure::{Times, alone, ratio, time};
use crate::report::Report;
use crate::scene::Scene;
use crate::{Measured, Plan};

/// Numbers of messages.
const SIZES: [usize; 3] = [10, 1_000, 10_000];
const ID: &str = "01a20060-e872-73af-9a25-ba7a128ce65f";
const TIME: &str = "2024-01-15T10:30:00Z";

/// The median times at one size.
struct Medians {
    size: usize,
    save: Duration,
    load: Duration,
    resume: Duration,
}

pub(crate) fn run(plan: Plan, report: &mut Report) -> Measured<()> {
    report.section("Long conversations");
    let mut minimum = None;
    for size in plan.sizes(&SIZES) {
        let now = measure(plan, report, size, minimum.as_ref())?;
        minimum.get_or_insert(now);
    }
    Ok(())
}

fn measure(
    plan: Plan,
    report: &mut Report,
    size: usize,
    minimum: Option<&Medians>,
) -> Measured<Medians> {
    let scene = Scene::new()?;
    let file = scene.at("conversations.db");
    let store = Store::open(&file)?;
    begin(&store, &scene, size)?;
    let load = alone(plan.rounds(20), 1, || Ok(store.load(ID)?))?;
    let save = save(plan, &store, size)?;
    let resume = resume(plan, &scene, &file)?;
    let now = Medians { size, save: save.median(), load: load.median(), resume: resume.median() };
    let first = minimum.unwrap_or(&now);
    let baseline = |ratio: f64| (format!("at {} messages", first.size), ratio);
    for (what, times, (baseline, ratio)) in [
        ("save one exchange", &save, baseline(ratio(now.save, first.save))),
        ("load", &load, baseline(ratio(now.load, first.load))),
        (
            "open, load, continue with one turn, save, end",
            &resume,
            baseline(ratio(now.resume, first.resume)),
        ),
    ] {
        report.growth(format!("{size} messages: {what}"), times, &baseline, ratio);
    }
    Ok(now)
}

/// Saves exchanges one after the other.
fn save(plan: Plan, store: &Store, size: usize) -> Measured<Times> {
    let mut next = size as u64;
    let mut save = || {
        let entries = entries(2);
        let exchange = exchange(&entries, next);
        time(|| {
            next = store.append(&exchange)?;
            Ok(())
        })
    };
    Ok(Times::new((0..plan.rounds(100)).map(|_| save()).collect::<Measured<_>>()?))
}

/// Repeats the work of `tenter run --resume`: from opening the file to the end of a session of one turn.
fn resume(plan: Plan, scene: &Scene, file: &Path) -> Measured<Times> {
    let script = agent::script(0, true);
    alone(plan.rounds(20), 1, || {
        let agent = agent::agent(scene, &script, file, Arc::<Ticks>::default())?;
        let id = agent.store.find(&ID[..13])?;
        let conversation = Conversation::resumed(agent.store.load(&id)?);
        agent::play(&agent, conversation)
    })
}

fn begin(store: &Store, scene: &Scene, size: usize) -> Measured<()> {
    let conversation = NewConversation {
        project: &scene.layout.project,
        model: "scripted:bench",
        parent: None,
        recipe: None,
        created_at: TIME,
    };
    store.begin(&conversation, &exchange(&entries(size), 0))?;
    Ok(())
}

fn exchange(entries: &[HistoryEntry], expected_next: u64) -> Exchange<'_> {
    Exchange { conversation_id: ID, expected_next, entries, usage: None, at: TIME }
}

/// Returns `count` messages, alternately of the user and of the model.
fn entries(count: usize) -> Vec<HistoryEntry> {
    let entry = |index: usize| {
        let (role, origin) = if index.is_multiple_of(2) {
            (Role::User, Origin::User)
        } else {
            (Role::Assistant, Origin::Model)
        };
        let text = format!("Message {index}: ") + &"the build is slow, look at it. ".repeat(6);
        let message = Message { role, ..Message::user(&text) };
        HistoryEntry { message, origin }
    };
    (0..count).map(entry).collect()
}

//! `jelly init`: a live server → a plan for it → an exit code.

mod clean;
mod configured;
mod from_package;
mod from_plan;
mod from_recording;
mod hollow;
mod keep;
mod meant;
mod origin;
mod remote;
mod shared;
mod slips;
mod told_values;
mod trial;
mod unwell;
mod way;
mod written;

pub use meant::name_of_command;

use super::busy::Busy;
use super::out;
use super::refusal::{Refusal, complain};
use super::runtime::{CommandContext, unless_interrupted, with_runtime};
use super::settings::World;
use crate::cli::args::InitArgs;
use jelly_base::model::{ExitCode, Inventory};
use jelly_base::text::redact::Redactor;
use jelly_base::text::{capitalised, did_you_mean, one_line, plural};
use jelly_setup::init::{Draft, Folder, Settings, server_name};
use keep::PlanPlace;
use origin::Origin;
use shared::Shared;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};
use trial::PlanTrial;

/// Makes plans.
pub fn init(args: &InitArgs, world: &World) -> Result<ExitCode, Refusal> {
    with_runtime(&args.own_rules, world, async |context| {
        make_all(args, world, context).await
    })
}

async fn make_all(
    args: &InitArgs,
    world: &World,
    context: CommandContext,
) -> Result<ExitCode, Refusal> {
    let shared = Shared {
        args,
        world,
        rules: &context.rules,
        redactor: Redactor::of_at_least(written::MIN_WITHIN),
        kept: RefCell::default(),
        interrupt: context.interrupt,
    };
    if let Some(file) = &args.from_recording {
        return from_recording::make(&shared, file).await;
    }
    let origins = unless_interrupted(&shared.interrupt, meant::origins(&shared)).await??;
    if origins.len() > 1 && !args.called.is_empty() {
        return Err(Refusal::with_help(
            "--call names a tool of one server, and several are meant",
            "name the server by --server",
        ));
    }
    let mut codes = Vec::new();
    for origin in origins {
        let made = make(&shared, origin).await;
        let code = made.map_or_else(Refusal::tell, |()| ExitCode::Passed);
        codes.push(code);
        if matches!(code, ExitCode::Interrupted(_)) {
            break;
        }
    }
    Ok(ExitCode::strongest(codes))
}

/// One plan, from the server to the file.
async fn make(shared: &Shared<'_>, origin: Origin) -> Result<(), Refusal> {
    let args = shared.args;
    let began = Instant::now();
    let known = args.name.clone().or_else(|| origin.name.clone());
    let named = known.as_deref().unwrap_or("server");
    let place = PlanPlace::open(shared, known.as_deref())?;
    let server = origin.server(shared, &place);
    let unset = server.unset(shared);
    let mut settings = Settings {
        name: named.to_owned(),
        server: server.entry,
        notes: server.notes,
        schema: Some(place.schema_way().to_owned()),
        call_all: args.call_all,
        called: args.called.clone(),
        ..Settings::default()
    };
    let mut trial = PlanTrial::new(shared, &place, server.env);
    let busy = Busy::spinning(shared.world, &format!("starting {named} …"));
    let stock = trial.take_stock(&settings, &origin).await;
    drop(busy);
    let stock = stock?;
    refuse_unknown(&args.called, &stock.inventory)?;
    let mut place = match known {
        Some(_) => place,
        None => {
            let info = &stock.inventory.server_info;
            let name = info.get("name").and_then(serde_json::Value::as_str);
            settings.name = name
                .and_then(server_name)
                .unwrap_or_else(|| "server".to_owned());
            place.rename(shared, &settings.name)?
        }
    };
    settings.run = place.run_line(shared);
    let sentence = |left_out: &String| format!("{}.", capitalised(left_out));
    settings.notes.extend(stock.left_out.iter().map(sentence));
    settings.folder = stock.folder.map(|found| Folder {
        written: place.written(&found.path, &origin.folder),
        path: found.path.display().to_string(),
        file: found.file,
    });
    let mut draft = Draft::new(&stock.inventory, settings);
    let busy = Rc::new(Busy::waiting(shared.world));
    trial.show_calls(busy.clone(), shared.redactor.clone(), draft.steps());
    let text = trial.settle(&mut draft).await;
    trial.show_nothing();
    drop(busy);
    let text = text?;
    place.keep(shared, &text)?;
    for left_out in &stock.left_out {
        complain(&format!("note: {left_out}"));
    }
    for name in &args.called {
        if let Some(why) = draft.left_of(name) {
            let shown = one_line(name, 80);
            complain(&format!(
                "note: `{shown}` is left as a TODO: {}; `jelly call {shown} ARG=VALUE --as-step` \
                 prints a call of it as a step",
                one_line(why, 200)
            ));
        }
    }
    say(shared, &place, &draft, &unset, began.elapsed());
    Ok(())
}

/// A tool that is to be called, and that the server does not have: most likely a
/// slip.
fn refuse_unknown(called: &[String], inventory: &Inventory) -> Result<(), Refusal> {
    let tools = inventory.tools.iter().flatten();
    let names: Vec<&str> = tools
        .filter_map(|tool| tool.get("name")?.as_str())
        .collect();
    let Some(unknown) = called.iter().find(|name| !names.contains(&name.as_str())) else {
        return Ok(());
    };
    let help = did_you_mean(unknown, names.iter().copied());
    let help = help.unwrap_or_else(|| match names.is_empty() {
        true => "it has no tools".to_owned(),
        false => format!("it has: {}", names.join(", ")),
    });
    Err(Refusal::with_help(
        format!(
            "--call {0}: the server has no tool `{0}`",
            one_line(unknown, 80)
        ),
        one_line(&help, 600),
    ))
}

/// What there is now.
fn say(shared: &Shared<'_>, place: &PlanPlace, draft: &Draft, unset: &[String], took: Duration) {
    let (called, all) = draft.tools_called();
    let passed = match (shared.args.no_verify, draft.steps()) {
        (true, 1) => "passed once",
        (true, _) => "all passed once",
        (false, 1) => "passed twice",
        (false, _) => "all passed twice",
    };
    let mut text = format!(
        "wrote {}: {}, {passed}; {called} of {} called ({})\n",
        place.shown(),
        plural(draft.steps(), "step"),
        plural(all, "tool"),
        jelly_base::text::human_duration(took)
    );
    let left = draft.left();
    if !left.is_empty() {
        text.push_str("left as TODOs at the end of the plan:\n");
        for (id, why) in left.iter().take(12) {
            text.push_str(&format!("  {}: {}\n", one_line(id, 64), one_line(why, 200)));
        }
        if left.len() > 12 {
            text.push_str(&format!("  and {} more\n", left.len() - 12));
        }
    }
    match place.keep_schema(shared) {
        Some(Ok(path)) => {
            let path = path.display();
            text.push_str(&format!("also wrote {path}, for editor validation\n"));
        }
        Some(Err(why)) => complain(&format!("warning: {why}")),
        None => {}
    }
    text.push_str(&place.next_line(shared, unset));
    if place.is_stdout() {
        complain(text.trim_end());
    } else if let Err(error) = out::print(text) {
        // The plan is there, and that is what was asked for.
        complain(&format!("warning: failed to write to stdout: {error}"));
    }
}

//! Arguments that an earlier answer gave, where the server makes their values anew at each
//! start: an id of one start means nothing to the next.

use super::hunt::Hunt;
use super::live::{Stop, is_over};
use jelly_fuzzing::{FuzzCall, FuzzTaken};
use serde_json::Value;

impl Hunt<'_> {
    /// The arguments with what this server has in the place of what another one gave.
    pub(super) async fn renewed(&mut self, arguments: &Value) -> Result<Option<Value>, Stop> {
        let mut renewed = arguments.clone();
        for fed in self.fed.clone().iter().filter(|_| self.renews) {
            let source = &fed.source;
            let tool = self.targets.iter().position(|it| it.name == source.tool);
            let (Some(tool), true) = (tool, arguments.get(&fed.name) == Some(&fed.value)) else {
                continue;
            };
            if !self.live.is_up() {
                break;
            }
            let limit = self.live.limit;
            let (answer, _) = self.live.call(tool, &source.arguments, limit).await?;
            if is_over(&answer) {
                self.live.discard();
            }
            if let Some(value) = answer.good().and_then(|good| source.find(good)) {
                renewed[fed.name.as_str()] = value.into_owned();
            }
        }
        Ok((renewed != *arguments).then_some(renewed))
    }

    /// Puts the calls that give arguments of the last one before it, and says which.
    pub(super) fn note_givers(&self, last: &mut FuzzCall, before: &mut Vec<FuzzCall>) {
        for fed in self.fed.iter().filter(|_| self.renews) {
            if last.arguments.get(fed.name.as_str()) != Some(&fed.value) {
                continue;
            }
            let giver = FuzzCall::new(&fed.source.tool, fed.source.arguments.clone());
            let known = before.iter().position(|call| *call == giver);
            let call = known.unwrap_or(before.len());
            if known.is_none() {
                before.push(giver);
            }
            last.taken.push(FuzzTaken {
                argument: fed.name.clone(),
                call,
                pointer: fed.source.pointer.clone(),
            });
        }
    }
}

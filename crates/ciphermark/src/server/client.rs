//! The client: makes connections as it is told, resumes them or not, asks, and counts what really happened.

mod http1;
mod http2;
mod lane;
mod stream;
mod tap;

use crate::server::Trouble;
use crate::server::job::{Answer, Job, Libraries, Told};
use lane::Lane;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Scope;
use std::time::Instant;

/// Does one job: makes ready, says so, and at each word does a slice and tells of it; when all is done, it
/// tells so at the next word, and what was held open is closed. `go` is false where nobody waits any more.
pub(crate) fn run(
    libraries: &Libraries,
    job: &Job,
    say: &mut dyn FnMut(&Answer) -> Result<(), Trouble>,
    go: &mut dyn FnMut() -> bool,
) -> Result<(), Trouble> {
    let seen = match tap::look(libraries, job) {
        Ok(seen) => seen,
        Err(why) => return say(&Answer::Failed(why)),
    };
    std::thread::scope(|scope| {
        let lanes: Vec<Running> =
            (0..job.at_once.max(1)).map(|at| Running::start(scope, libraries, job, at)).collect();
        if let Some(why) = lanes.iter().find_map(Running::failed) {
            return say(&Answer::Failed(why));
        }
        say(&Answer::Ready)?;
        let mut all = seen;
        while go() {
            if all.seconds >= job.seconds || all.connections >= job.connections {
                return say(&Answer::Done(all));
            }
            match slice(&lanes) {
                Err(why) => return say(&Answer::Failed(why)),
                Ok(told) => {
                    all.add(&told);
                    say(&Answer::Slice(told))?;
                }
            }
        }
        Ok(())
    })
}

/// Has every lane do its part of a slice.
fn slice(lanes: &[Running]) -> Result<Told, String> {
    let begun = Instant::now();
    lanes.iter().for_each(Running::go);
    let mut told = Told::default();
    for lane in lanes {
        told.add(&lane.told()?);
    }
    told.seconds = begun.elapsed().as_secs_f64();
    Ok(told)
}

/// A thread with one lane: connections that follow one another.
struct Running {
    start: Sender<()>,
    ready: Receiver<Option<String>>,
    told: Receiver<Result<Told, String>>,
}

impl Running {
    fn start<'scope>(
        scope: &'scope Scope<'scope, '_>,
        libraries: &'scope Libraries,
        job: &'scope Job,
        at: u32,
    ) -> Self {
        let ((start, begin), (is_ready, ready), (tell, told)) = (channel(), channel(), channel());
        scope.spawn(move || {
            let mut lane = match Lane::ready(libraries, job, at) {
                Ok(lane) => lane,
                Err(why) => return drop(is_ready.send(Some(why))),
            };
            // Who waits no longer needs no answer. What is held stays open until the sender is gone.
            let _ = is_ready.send(None);
            while begin.recv().is_ok() && tell.send(lane.run()).is_ok() {}
        });
        Self { start, ready, told }
    }

    fn failed(&self) -> Option<String> {
        self.ready.recv().unwrap_or_else(|_| Some("a thread of the client ended".to_owned()))
    }

    fn go(&self) {
        // A thread that is gone is told of by `told`.
        let _ = self.start.send(());
    }

    fn told(&self) -> Result<Told, String> {
        self.told.recv().unwrap_or_else(|_| Err("a thread of the client ended".to_owned()))
    }
}

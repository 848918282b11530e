//! A round: blocks of visits, each of one worker, on every measuring CPU at once. Which CPU takes which block hangs on
//! who is free, so a case's processes are spread over the CPUs by chance.

use super::{Schedule, Watch};
use crate::kinds;
use crate::link::WorkerError;
use crate::process::{Worker, first_to_say, out_of_protocol};
use crate::protocol::{Finding, QuietCore, Reply, VisitResult};
use crate::stop::Stop;
use crate::suspend::Suspend;
use record::{JournalEntry, Stopped};
use std::collections::VecDeque;
use std::time::Duration;

/// Longest wait for a quiet core before a sample.
const LONGEST_WAIT: Duration = Duration::from_millis(50);

/// Visits of one worker's cases, in a row.
pub(super) struct Block {
    pub(super) pool: usize,
    pub(super) all_progress: Vec<usize>,
    /// Whether it is asked for once more, because its worker was killed.
    again: bool,
}

/// What a worker was asked for.
struct Asked {
    block: Block,
    /// Where it measures; none where workers stay where they are.
    cpu: Option<u32>,
    /// CPUs whose lost time is its samples'; none for all of the run.
    looked_at: Vec<u32>,
    /// Longest wait for the reply, if it could be asked.
    deadline: Result<Duration, WorkerError>,
    before: Before,
}

/// What a block's samples may meet without seeing it, as it was when they were asked for.
struct Before {
    stolen: u64,
    suspend: Suspend,
    /// Time in which this process was stopped.
    away: Duration,
}

/// A block's results, and whether the CPU was taken from it meanwhile.
type Answer = Result<(Vec<Vec<VisitResult>>, bool), WorkerError>;

impl Schedule<'_> {
    /// Visits the blocks; says why when it was cut short.
    pub(super) fn round(
        &mut self,
        blocks: Vec<Block>,
        stop: &Stop,
        watch: &mut dyn Watch,
    ) -> Option<Stopped> {
        let mut blocks = VecDeque::from(blocks);
        let mut asked: Vec<Asked> = Vec::new();
        loop {
            let over = self.is_over(stop);
            while over.is_none() && asked.len() < self.cpus.len().max(1) {
                let Some(next) = self.next(&mut blocks, &asked, stop) else { break };
                asked.push(next);
            }
            if asked.is_empty() {
                return over;
            }
            let first = asked.remove(self.first_to_answer(&asked, stop));
            let answer = self.hear(&first, stop);
            // The CPU need not wait for what follows, where that runs on another.
            if answer.is_ok() && self.has_room && self.is_over(stop).is_none() {
                asked.extend(self.next(&mut blocks, &asked, stop));
            }
            watch.block(self.take_block(first, answer, stop));
        }
    }

    /// Asks for the first block whose worker has nothing to do, on a CPU that has nothing to do.
    fn next(
        &mut self,
        blocks: &mut VecDeque<Block>,
        asked: &[Asked],
        stop: &Stop,
    ) -> Option<Asked> {
        let is_free = |b: &Block| asked.iter().all(|asked| asked.block.pool != b.pool);
        let block = blocks.remove(blocks.iter().position(is_free)?)?;
        let is_idle = |cpu: &u32| asked.iter().all(|asked| asked.cpu != Some(*cpu));
        let cpu = self.cpus.iter().copied().find(is_idle);
        Some(self.ask(block, cpu, stop))
    }

    /// Waits until one of those that were asked has answered, or does not: its place.
    fn first_to_answer(&mut self, asked: &[Asked], stop: &Stop) -> usize {
        if let Some(failed) = asked.iter().position(|asked| asked.deadline.is_err()) {
            return failed;
        }
        let workers: Vec<&Worker> =
            asked.iter().filter_map(|asked| self.pools[asked.block.pool].asked()).collect();
        if workers.len() < 2 {
            return 0;
        }
        let (first, away) = first_to_say(&workers, stop);
        self.away += away;
        first
    }

    fn ask(&mut self, block: Block, cpu: Option<u32>, stop: &Stop) -> Asked {
        // Before it is looked at what else happens: what is lost while processes are started is no sample's loss.
        let started = self.pools[block.pool].worker(stop).map(|_| ());
        // Several threads measure on CPUs of their own, and then nothing else does.
        let looked_at = if self.cpus.len() > 1 { cpu.into_iter().collect() } else { Vec::new() };
        let stolen = self.stolen.of(&looked_at);
        let before = Before { stolen, suspend: Suspend::new(), away: self.away };
        let deadline = started.and_then(|()| self.send(&block, cpu, stop));
        Asked { block, cpu, looked_at, deadline, before }
    }

    fn send(
        &mut self,
        block: &Block,
        cpu: Option<u32>,
        stop: &Stop,
    ) -> Result<Duration, WorkerError> {
        let worker = self.pools[block.pool].worker(stop)?;
        if let Some(cpu) = cpu.filter(|_| self.cpus.len() > 1)
            && worker.move_to(cpu).is_err()
        {
            // It measures where it is, and the others with it from now on.
            self.cpus.truncate(1);
        }
        worker.stood_still();
        let (all_progress, pass) = (&mut self.all_progress, self.passes);
        let visits = block.all_progress.iter().map(|i| all_progress[*i].visit(pass)).collect();
        let on = cpu.or_else(|| self.cpus.first().copied());
        let rate = on.map_or(0.0, |cpu| self.quiet.rates().of(cpu));
        let most_microseconds = (self.sample_time / 2).min(LONGEST_WAIT).as_micros() as u32;
        worker.send(&kinds::request(visits, QuietCore { rate, most_microseconds }));
        Ok(block.all_progress.iter().map(|i| self.all_progress[*i].deadline()).sum())
    }

    /// Waits for the answer. After an error there is no worker.
    fn hear(&mut self, asked: &Asked, stop: &Stop) -> Answer {
        let answer = match &asked.deadline {
            Ok(deadline) => self.hear_within(asked, *deadline, stop),
            Err(error) => Err(error.clone()),
        };
        if answer.is_err() {
            self.pools[asked.block.pool].end();
        }
        answer
    }

    fn hear_within(&mut self, asked: &Asked, deadline: Duration, stop: &Stop) -> Answer {
        let worker = self.pools[asked.block.pool].worker(stop)?;
        let reply = worker.reply_unless(stop, deadline);
        let (away, stood_still) = (worker.take_away(), worker.stood_still());
        self.away += away;
        let Before { stolen, suspend, away } = &asked.before;
        let stolen = self.stolen.of(&asked.looked_at) > *stolen;
        let taken = stolen || suspend.clone().advanced() || stood_still || self.away > *away;
        match reply? {
            Reply::Samples { results } if results.len() == asked.block.all_progress.len() => {
                Ok((results, taken))
            }
            other => Err(out_of_protocol(&other)),
        }
    }

    /// What came of a block. When the worker is lost in a block of several, each visit is tried again alone:
    /// the one that is lost again is the one at fault.
    fn take_block(&mut self, asked: Asked, answer: Answer, stop: &Stop) -> Vec<JournalEntry> {
        let Asked { block, cpu, .. } = asked;
        match answer {
            Ok((results, stolen)) => {
                let mut entries = Vec::new();
                for (i, results) in block.all_progress.iter().zip(results) {
                    for result in results {
                        entries.extend(self.take(*i, result, stolen));
                    }
                }
                entries
            }
            Err(WorkerError::Interrupted) => Vec::new(),
            // From outside: that is no fault of what it was asked.
            Err(WorkerError::Killed(_)) if !block.again => {
                self.visit(Block { again: true, ..block }, cpu, stop)
            }
            // Taken away between the pass's beginning and the worker's.
            Err(WorkerError::Unusable(_)) if self.follow_cpu() => {
                let cpu = self.cpus.first().copied();
                self.visit(block, cpu, stop)
            }
            Err(error) => {
                if let [only] = block.all_progress[..] {
                    return vec![self.found(only, Finding::failed(error.to_string()))];
                }
                let alone = |progress: &usize| Block::of(block.pool, vec![*progress]);
                let alone: Vec<Block> = block.all_progress.iter().map(alone).collect();
                alone.into_iter().flat_map(|block| self.visit(block, cpu, stop)).collect()
            }
        }
    }

    /// Visits a block by itself.
    fn visit(&mut self, block: Block, cpu: Option<u32>, stop: &Stop) -> Vec<JournalEntry> {
        let asked = self.ask(block, cpu, stop);
        let answer = self.hear(&asked, stop);
        self.take_block(asked, answer, stop)
    }
}

impl Block {
    pub(super) fn of(pool: usize, all_progress: Vec<usize>) -> Self {
        Self { pool, all_progress, again: false }
    }
}

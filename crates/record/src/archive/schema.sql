-- Every figure comes from the record's raw samples on the way in. Words are written once and named by number.
CREATE TABLE meta (version BIGINT NOT NULL);
-- What one can own or rent.
CREATE TABLE machine (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
-- One build at one path.
CREATE TABLE library (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, version TEXT NOT NULL, path TEXT NOT NULL, build TEXT NOT NULL,
  UNIQUE (name, version, path, build));
-- What was done: everything of a case but the library.
CREATE TABLE workload (
  id INTEGER PRIMARY KEY, algorithm TEXT NOT NULL, direction TEXT NOT NULL, model TEXT NOT NULL, model_version BIGINT NOT NULL,
  size BIGINT NOT NULL, tier TEXT NOT NULL, threads BIGINT NOT NULL, footprint TEXT NOT NULL, in_place BIGINT NOT NULL,
  setting TEXT NOT NULL,
  UNIQUE (algorithm, direction, model, model_version, size, tier, threads, footprint, in_place, setting));
-- Reasons and warnings, as JSON.
CREATE TABLE note (id INTEGER PRIMARY KEY, content TEXT NOT NULL UNIQUE);
-- `samples` is a digest of the raw samples; `known` what later records are judged by; `head` the record without
-- measurements, `leaks` its verdicts on secrets, `absent` the cases that no library offered.
CREATE TABLE record (
  id INTEGER PRIMARY KEY, sha256 TEXT NOT NULL UNIQUE, samples TEXT, machine INTEGER NOT NULL REFERENCES machine,
  region TEXT, cpu TEXT NOT NULL, kind TEXT, started BIGINT NOT NULL, added BIGINT NOT NULL, trust TEXT NOT NULL,
  signer TEXT, doubts TEXT NOT NULL, cases BIGINT NOT NULL, head BYTEA NOT NULL, leaks BYTEA NOT NULL,
  absent BYTEA NOT NULL, known BYTEA);
CREATE INDEX record_by_machine ON record (machine, started);
CREATE INDEX record_by_samples ON record (samples);
-- `counts` are the instructions that the record counted in the library.
CREATE TABLE uses (
  record INTEGER NOT NULL REFERENCES record, library INTEGER NOT NULL REFERENCES library, counts BYTEA NOT NULL,
  PRIMARY KEY (record, library)
) /*without rowid*/;
CREATE INDEX uses_by_library ON uses (library, record);
-- `id` is the record's number, the workload's and the library's in one: record * 2^40 + workload * 2^20 + library.
-- `ns` and `cycles` are medians of one operation; `figures` has their intervals and the costs of the processes.
CREATE TABLE measurement (
  id BIGINT PRIMARY KEY, state SMALLINT NOT NULL, note INTEGER, ns DOUBLE PRECISION, cycles DOUBLE PRECISION,
  figures BYTEA NOT NULL);
-- The records, compressed, where no directory keeps them.
CREATE TABLE object (sha256 TEXT PRIMARY KEY, content BYTEA NOT NULL);

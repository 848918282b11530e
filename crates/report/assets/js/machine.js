// Machines, runs and libraries, one column a record.

function machineView() {
  const chosen = chosenOf("record");
  const records = head.records.filter((r) => !chosen || chosen.has(r.label));
  if (records.length === 0) return [nothingChosen()];
  say(`Facts of ${plural(records.length, "record")}`);
  return [
    el("h2", null, "Machine and run"),
    factTable(records),
    el("h2", null, "Libraries"),
    libraryTable(records),
    ...records.filter((r) => r.facts.core).flatMap(coreTables),
    el("h2", null, "Noise"),
    noiseTable(records),
  ];
}

const FACTS = [
  ["File", (r) => r.file],
  ["Processor", (r) => r.cpu],
  ["Family, model, stepping", ({ facts: { host: { cpu } } }) => `${cpu.vendor} ${cpu.family}, ${cpu.model}, ${cpu.stepping}`],
  ["Microcode", (r) => r.facts.host.cpu.microcode],
  ["Machine", (r) => r.facts.host.machine],
  ["Hypervisor", (r) => r.facts.host.hypervisor ?? "none"],
  ["CPUs", ({ facts: { host: { cpu } } }) => `${cpu.cpus_online} online, ${cpu.cpus_allowed} allowed, CPU ${cpu.cpu_measuring} measured`],
  ["Hardware threads of its core", ({ facts: { host: { cpu } } }) => [cpu.thread_siblings, cpu.smt && `SMT ${cpu.smt}`].filter(Boolean).join("; ")],
  ["Core clock", ({ facts: { host: { clock } } }) => (clock.core_ghz_median ? `${clock.core_ghz_median.toFixed(3)} GHz${clock.core_ghz_range ? ` (${clock.core_ghz_range.map((g) => g.toFixed(3)).join(" to ")})` : ""}` : null)],
  ["Governor, boost", ({ facts: { host: { cpu } } }) => [cpu.frequency_driver, cpu.governor, cpu.boost === null ? null : cpu.boost ? "boost on" : "boost off"].filter(Boolean).join(", ") || "not told"],
  ["Clock of samples", ({ facts: { host: { clock } } }) => `${clock.source}, ${figure(clock.ticks_per_second / 1e9)} GHz, steps of ${clock.step_ticks}, ${clock.overhead_ticks} ticks taken off`],
  ["Caches", ({ facts: { host: { cpu } } }) => cpu.caches.map((c) => `L${c.level} ${c.kind.toLowerCase()} ${bytesName(c.size_bytes)}`).join(", ")],
  ["Memory", ({ facts: { host: { memory } } }) => `${bytesName(memory.total_bytes)}, pages of ${bytesName(memory.page_bytes)}, huge pages ${memory.transparent_hugepages ?? "not told"}`],
  ["System", (r) => [r.facts.host.os, `Linux ${r.facts.host.kernel.release}`].filter(Boolean).join(", ")],
  ["Circumstances", ({ facts: { host } }) => (host.circumstances ?? []).map((c) => `${c.name}${c.value === undefined ? "" : `=${c.value}`} ${c.effect}`).join("; ") || "none recorded"],
  ["CPU features", ({ facts: { host: { cpu } } }) => cpu.features.join(" ")],
  ["Mitigations", (r) => r.facts.host.kernel.mitigations.filter((m) => m.state !== "Not affected").map((m) => `${m.name}: ${m.state}`).join("; ")],
  ["Performance counters", (r) => (r.facts.host.pmu ? "usable" : "not usable")],
  ["Load before", (r) => (r.facts.host.load_average === null ? null : String(r.facts.host.load_average))],
  ["Begun", (r) => r.started],
  ["Measured for", (r) => `${figure(r.facts.measuring_seconds)} s`],
  ["Command", (r) => r.facts.tool.command.join(" ")],
  ["Written by", (r) => `${r.facts.tool.name} ${r.facts.tool.version}, format ${r.facts.format_version}`],
  ["Precision asked", (r) => `±${percent(r.facts.plan.precision)} %, at most ${r.facts.plan.budget_seconds} s`],
  ["Seed", (r) => r.facts.seed],
];

// Where records differ, the row is marked: that is what explains different numbers.
function factTable(records) {
  const rows = FACTS.map(([name, of]) => ({ name, values: records.map((r) => of(r) || "not told") }));
  return table({
    caption: "What a reader must know to believe the numbers",
    rows: rows.map((row) => ({ ...row, className: new Set(row.values).size > 1 ? "differs" : "" })),
    columns: [
      { title: "Fact", cell: (row) => row.name },
      ...records.map((r, n) => ({ title: r.label, cell: (row) => named(row.values[n]) })),
    ],
    className: "fact-table",
  });
}

function libraryTable(records) {
  const rows = records.flatMap((r) => r.facts.libraries.map((l) => ({ r, l })));
  return table({
    caption: "As each loaded library itself reports it", rows,
    columns: [
      { title: "Library", cell: ({ l }) => named(l.name), sort: ({ l }) => l.name },
      { title: "Version", cell: ({ l }) => (l.error ? el("span", { class: "state failed" }, "not loaded") : named(l.version)), sort: ({ l }) => l.version },
      records.length > 1 ? { title: "Record", cell: ({ r }) => named(r.label), sort: ({ r }) => r.label } : null,
      { title: "Cipher instructions in its code", cell: ({ l }) => (l.instructions ? l.instructions.join(", ") || "none" : "not told") },
      { title: "File and build", cell: ({ l }) => el("details", { class: "more-facts" }, el("summary", null, named(l.path.split("/").at(-1))), el("p", null, el("code", null, named(l.path))), el("p", null, el("code", null, named(l.id))), l.error ? el("p", { class: "state failed" }, l.error) : null, el("ul", null, l.build.map((b) => el("li", null, named(b))), (l.tiers ?? []).map((t) => el("li", null, `tier ${t.tier}: ${t.mechanism ?? "not applied"}${t.proof ? `, ${t.proof}` : ""}${t.reason ? `; ${t.reason}` : ""}`)))) },
    ].filter(Boolean),
  });
}

function coreTables(r) {
  const core = r.facts.core;
  const of = data.severalRecords ? ` (${r.label})` : "";
  const number = (title, value, text = figure) => ({ title, number: true, start: -1, sort: value, cell: (x) => (value(x) === null ? "" : text(value(x))) });
  return [
    el("h2", null, "What this core can do at best", named(of)),
    core.unread?.length ? el("p", null, `No limits: the core was not quiet for long enough to read ${core.unread.join(", ")}.`) : null,
    el("div", { class: "side-by-side" },
      table({
        caption: "Instructions", rows: core.instructions, className: "numbers",
        columns: [{ title: "Instruction", cell: (x) => `${x.name} ${x.width_bits}`, sort: (x) => x.name }, number("a cycle", (x) => x.per_cycle), number("latency, cycles", (x) => x.latency_cycles)],
      }),
      table({
        caption: "Bandwidths", rows: core.bandwidths, className: "numbers",
        columns: [{ title: "Level", cell: (x) => `${x.level} ${x.access}`, sort: (x) => x.level }, number("bytes a cycle", (x) => x.bytes_per_cycle), number("GB/s", (x) => x.gb_per_s), { title: "best by", cell: (x) => x.by }],
      })),
  ];
}

const NOISE = [
  ["Samples", (n) => String(n.samples)],
  ["Clean", (n) => `${n.clean} (${percent(n.clean / n.samples)} %)`],
  ["Migrated", (n) => String(n.disturbed.migrated)],
  ["Switched out", (n) => String(n.disturbed.switched)],
  ["Waited for a disk", (n) => String(n.disturbed.paged_in)],
  ["Stolen by the hypervisor", (n) => `${n.disturbed.stolen}${n.stolen_seconds === null ? "" : `; ${figure(n.stolen_seconds)} s`}`],
  ["Clock moved", (n) => String(n.disturbed.clock_moved)],
  ["Contended", (n) => String(n.disturbed.contended)],
  ["Not yet settled", (n) => String(n.disturbed.unsettled ?? 0)],
  ["Interrupted", (n) => String(n.disturbed.interrupted ?? 0)],
  ["Shield", (n) => n.shield],
];

function noiseTable(records) {
  const known = records.filter((r) => r.facts.noise);
  if (known.length === 0) return empty("Records of format 1.1 and older do not sum up their noise.", "The samples view shows which samples of a case were marked, and why.");
  return table({
    caption: "What disturbed the run", rows: NOISE.map(([name, of]) => ({ name, of })), className: "fact-table",
    columns: [{ title: "", cell: (row) => row.name }, ...known.map((r) => ({ title: r.label, number: true, cell: (row) => row.of(r.facts.noise) }))],
  });
}

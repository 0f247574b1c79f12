// The live view: reads the server's Prometheus page every second and shows what a person asks first.

const PARTS = 8; // parts of memory that get a place of their own
const COLOURS = ["#8ecae6", "#ffb703", "#a7c957", "#f4978e", "#cdb4db", "#90be6d", "#f9c74f", "#adb5bd"];

// Reads the text format. {name: [{labels, value}]}
export function parseMetrics(text) {
  const metrics = new Map();
  for (const line of text.split("\n")) {
    const match = /^([a-zA-Z_:]\w*)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (!match) continue;
    const labels = {};
    for (const [, name, value] of (match[2] ?? "").matchAll(/(\w+)="([^"]*)"/g)) labels[name] = value;
    if (!metrics.has(match[1])) metrics.set(match[1], []);
    metrics.get(match[1]).push({ labels, value: Number(match[3]) });
  }
  return metrics;
}

const samples = (metrics, name) => metrics.get(name) ?? [];
const sum = (metrics, name, keep = () => true) =>
  samples(metrics, name).filter((each) => keep(each.labels)).reduce((total, each) => total + each.value, 0);

// The quantile of the steps between two pages, in seconds, from the histogram's buckets; null without steps.
export function quantile(before, after, name, q) {
  const old = new Map(samples(before, name).map((each) => [each.labels.le, each.value]));
  const buckets = samples(after, name)
    .map((each) => ({ le: Number(each.labels.le.replace("+Inf", "Infinity")), count: each.value - (old.get(each.labels.le) ?? 0) }))
    .sort((a, b) => a.le - b.le);
  const all = buckets.length ? buckets[buckets.length - 1].count : 0;
  if (all <= 0) return null;
  let [low, below] = [0, 0];
  for (const { le, count } of buckets) {
    if (count >= q * all) {
      return le === Infinity ? low : low + ((le - low) * (q * all - below)) / Math.max(count - below, 1e-9);
    }
    [low, below] = [le, count];
  }
  return low;
}

export function bytes(count) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (count >= 1024 && unit < units.length - 1) [count, unit] = [count / 1024, unit + 1];
  return `${unit ? count.toFixed(1) : Math.round(count)} ${units[unit]}`;
}

const micros = (seconds) => (seconds === null ? "none" : `${(seconds * 1e6).toFixed(0)} us`);

function figure(name, value) {
  const box = document.createElement("div");
  const strong = document.createElement("b");
  strong.textContent = value;
  box.append(strong, name);
  return box;
}

function show(before, after, seconds) {
  const steps = "maskd_step_seconds";
  const rate = (sum(after, `${steps}_count`) - sum(before, `${steps}_count`)) / seconds;
  const asked = sum(after, "maskd_cache_requests_total");
  const hits = sum(after, "maskd_cache_requests_total", (labels) => labels.result === "hit");
  document.getElementById("figures").replaceChildren(
    figure("streams open", sum(after, "maskd_streams_open")),
    figure("rows open", sum(after, "maskd_rows_open")),
    figure("steps a second", rate.toFixed(0)),
    figure("step p50", micros(quantile(before, after, `${steps}_bucket`, 0.5))),
    figure("step p99", micros(quantile(before, after, `${steps}_bucket`, 0.99))),
    figure("grammars in the cache", sum(after, "maskd_cache_grammars")),
    figure("cache", bytes(sum(after, "maskd_cache_bytes"))),
    figure("asked of the cache, found", asked ? `${((100 * hits) / asked).toFixed(0)} %` : "none"),
    figure("compiles waiting", sum(after, "maskd_compile_queue")),
    figure("resident memory", bytes(sum(after, "process_resident_memory_bytes"))),
  );
  showMemory(samples(after, "maskd_memory_bytes"));
}

function showMemory(parts) {
  const sorted = parts.filter((part) => part.value > 0).sort((a, b) => b.value - a.value);
  const bar = document.getElementById("memory");
  bar.replaceChildren(
    ...sorted.slice(0, PARTS).map((part, i) => {
      const span = document.createElement("span");
      span.textContent = `${part.labels.part} ${bytes(part.value)}`;
      span.title = span.textContent;
      span.style.flexGrow = part.value;
      span.style.flexBasis = "3rem";
      span.style.background = COLOURS[i % COLOURS.length];
      return span;
    }),
  );
}

// Shows the live view and keeps it up to date while the page is seen.
export function watchServer(everyMs = 1000) {
  document.getElementById("live").hidden = false;
  const status = document.getElementById("live-status");
  let before = null;
  let at = 0;
  const look = async () => {
    if (!document.hidden) {
      try {
        const answer = await fetch("/api/metrics");
        if (!answer.ok) throw new Error((await answer.json()).error.message);
        const after = parseMetrics(await answer.text());
        const now = performance.now();
        if (before) show(before, after, (now - at) / 1000);
        [before, at] = [after, now];
        status.textContent = "from its metrics page, each second";
      } catch (error) {
        status.textContent = `no figures: ${error.message}`;
      }
    }
    setTimeout(look, before && !document.getElementById("figures").children.length ? 200 : everyMs);
  };
  look();
}

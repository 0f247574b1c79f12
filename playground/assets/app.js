// The playground's page. It keeps three things: the grammar (kind, options, source), the text, and the
// place that is selected in it. Each change asks the server again; of several requests of one sort only
// the newest counts.

import { bytes, watchServer } from "/live.js";

const $ = (id) => document.getElementById(id);
const encoder = new TextEncoder();
const decoder = new TextDecoder();

const LINE_HEIGHT = 19.5; // of the source, as in style.css
const PADDING = 8;
const COMPILE_DELAY_MS = 200;
const LIMIT = 80;
const SOME = 500;
const GENERATE_TOKENS = 80;

const OPTIONS = [
  ["white_space", ["WHITE_SPACE_FLEXIBLE", "WHITE_SPACE_COMPACT"]],
  ["max_whitespace", "number"],
  ["item_separator", "text"],
  ["key_separator", "text"],
  ["indent", "number"],
  ["property_order", ["PROPERTY_ORDER_DECLARED", "PROPERTY_ORDER_ANY"]],
  ["spelling", ["JSON_SPELLING_CANONICAL", "JSON_SPELLING_ANY"]],
  ["strictness", ["STRICTNESS_REFUSE", "STRICTNESS_RELAX"]],
  ["additional_properties", "boolean"],
  ["assert_formats", "boolean"],
  ["max_number_digits", "number"],
  ["max_tokens", "number"],
  ["max_characters", "number"],
];

const EXAMPLES = {
  "An order (JSON Schema)": ["json_schema", JSON.stringify({
    type: "object",
    properties: {
      item: { enum: ["tea", "coffee", "cake"] },
      count: { type: "integer", minimum: 1, maximum: 12 },
      name: { type: "string", pattern: "^[A-Z][a-z]{1,20}$" },
      note: { type: "string", maxLength: 40 },
    },
    required: ["item", "count", "name"],
    additionalProperties: false,
  }, null, 2), '{"item": "tea", "count": 3'],
  "A date (regular expression)": ["regex", "(19|20)[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])", "2026-1"],
  "Sums (EBNF)": ["ebnf", 'root ::= sum\nsum  ::= term ("+" term | "-" term)*\nterm ::= [0-9]+ | "(" sum ")"\n', "12+(3-"],
  "A choice": ["choice", '["red", "green", "blue"]', "g"],
};

// Figures of the places of `text`, by the bytes before them; of one grammar and vocabulary.
const known = { key: "", text: "", figures: new Map() };

const state = { grammarId: "", compiled: null, place: null, at: null, errorSpan: null, ruleSpan: null };

// ---- asking ----

async function ask(path, body) {
  const answer = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  const type = answer.headers.get("Content-Type") ?? "";
  if (!type.startsWith("application/json")) throw { code: answer.status, message: await answer.text() };
  const json = await answer.json();
  if (json.error) throw json.error;
  return json;
}

// Runs `work` for the newest call only: while one runs, of those that come meanwhile the last waits.
function newest(work) {
  let running = null;
  let again = false;
  const run = async () => {
    do {
      again = false;
      await work();
    } while (again);
    running = null;
  };
  return () => {
    again = running !== null;
    running ??= run();
    return running;
  };
}

function grammar() {
  const options = {};
  for (const [name, kind] of OPTIONS) {
    const value = $(`option-${name}`).value;
    if (value === "") continue;
    options[name] = kind === "number" ? Number(value) : kind === "boolean" ? value === "true" : value;
  }
  return { kind: $("kind").value, source: $("source").value, options };
}

const question = (more = {}) => ({
  tokenizer: $("tokenizer").value,
  grammar_id: state.grammarId,
  text: $("text").value,
  ...more,
});

// ---- the grammar ----

const compile = newest(async () => {
  $("compiled").textContent = "compiling ...";
  try {
    const asked = grammar();
    const answer = await ask("/api/compile", { tokenizer: $("tokenizer").value, grammar: asked });
    state.grammarId = answer.grammar_id;
    state.compiled = answer;
    showCompiled(answer);
    await place();
  } catch (error) {
    state.grammarId = "";
    showError(error);
  }
  document.documentElement.dataset.compiled = String(Number(document.documentElement.dataset.compiled ?? 0) + 1);
});

function showCompiled(answer) {
  const { costs } = answer;
  $("compiled").textContent =
    `compiled in ${(costs.compile_us / 1000).toFixed(1)} ms; ${costs.rules} ${costs.rules === 1 ? "rule" : "rules"}, ${bytes(costs.held_bytes)}`;
  $("compiled").title = `grammar ${answer.grammar_id}`;
  $("error").hidden = true;
  state.errorSpan = null;
  $("rules-text").textContent = answer.rules_text;
  const all = [...answer.warnings, ...answer.bounds];
  $("warning-count").textContent = all.length ? `(${all.length})` : "";
  $("warnings").replaceChildren(...all.map((each) => ruleItem(each.place, each.message, each.span)));
  drawMarks();
}

function showError(error) {
  $("compiled").textContent = "not compiled";
  const at = error.span ? ` (line ${error.span.line}, column ${error.span.column})` : "";
  $("error").textContent = `${error.code}${at}: ${error.message}`;
  $("error").hidden = false;
  state.errorSpan = error.span ?? null;
  state.place = null;
  $("verdict").className = "";
  $("verdict").textContent = "held to nothing: the grammar does not compile";
  $("stop").hidden = true;
  for (const id of ["tokens", "here", "allowed", "rules", "why", "warnings", "warning-count", "rules-text"])
    $(id).replaceChildren();
  drawMarks();
}

// ---- marks in the source ----

// The index in `text` (UTF-16) of a place given in bytes of UTF-8.
function charIndex(text, byteOffset) {
  const encoded = encoder.encode(text);
  return encoded.length === text.length ? byteOffset : decoder.decode(encoded.subarray(0, byteOffset)).length;
}

let characterWidth = 0;
function widthOfCharacter() {
  if (!characterWidth) {
    const context = document.createElement("canvas").getContext("2d");
    context.font = getComputedStyle($("source")).font;
    characterWidth = context.measureText("0").width;
  }
  return characterWidth;
}

function mark(span, kind) {
  const text = $("source").value;
  const begin = charIndex(text, span.begin);
  const lineStart = text.lastIndexOf("\n", begin - 1) + 1;
  const lineEnd = text.indexOf("\n", begin) < 0 ? text.length : text.indexOf("\n", begin);
  const column = text.slice(lineStart, begin).replaceAll("\t", "  ").length;
  const end = Math.min(charIndex(text, span.end), lineEnd);
  const top = PADDING + (span.line - 1) * LINE_HEIGHT - $("source").scrollTop;
  const line = document.createElement("div");
  line.className = kind;
  line.style.top = `${top}px`;
  const under = document.createElement("div");
  under.className = `${kind} at`;
  under.style.top = `${top}px`;
  under.style.left = `${PADDING + column * widthOfCharacter() - $("source").scrollLeft}px`;
  under.style.width = `${Math.max(1, end - begin) * widthOfCharacter()}px`;
  return [line, under];
}

function drawMarks() {
  const marks = [];
  if (state.errorSpan) marks.push(...mark(state.errorSpan, "error"));
  if (state.ruleSpan) marks.push(...mark(state.ruleSpan, "rule"));
  $("marks").replaceChildren(...marks);
}

function goTo(span) {
  const source = $("source");
  state.ruleSpan = span;
  source.scrollTop = Math.max(0, (span.line - 6) * LINE_HEIGHT);
  source.focus();
  source.setSelectionRange(charIndex(source.value, span.begin), charIndex(source.value, span.end));
  drawMarks();
}

function ruleItems(reason) {
  const items = reason.rules.map((rule) => ruleItem(rule.place, rule.says, rule.span));
  if (reason.left_out > 0) items.push(ruleItem("", `and ${reason.left_out} more`));
  return items;
}

function ruleItem(placeName, text, span) {
  const item = document.createElement("li");
  if (span) {
    const link = document.createElement("a");
    link.className = "place";
    link.href = "#";
    const isColumn = placeName === `${span.line}:${span.column}`;
    link.textContent = isColumn ? `line ${span.line}, column ${span.column}` : `${placeName} (line ${span.line})`;
    link.addEventListener("click", (event) => {
      event.preventDefault();
      goTo(span);
    });
    item.append(link, " ", text);
  } else {
    item.append(`${placeName}${placeName ? ": " : ""}${text}`);
  }
  return item;
}

// ---- the text ----

// Bytes that the text has in common with the one that was asked about last.
function knownBytes(asked) {
  const key = `${asked.grammar_id} ${asked.tokenizer}`;
  if (known.key !== key) Object.assign(known, { key, text: "", figures: new Map() });
  let end = 0;
  while (end < asked.text.length && asked.text[end] === known.text[end]) ++end;
  return encoder.encode(asked.text.slice(0, end)).length;
}

// The place with the masks that were left out. Asks once more where one is not known after all.
async function askForPlace() {
  const asked = question({ at: state.at ?? undefined, limit: LIMIT, find: $("find").value });
  const common = knownBytes(asked);
  let answer = await ask("/api/place", { ...asked, known: common - 1 });
  const isMissing = (each) => each.form === undefined && !known.figures.has(each.offset);
  if (answer.window.some(isMissing)) answer = await ask("/api/place", asked);
  known.text = asked.text;
  for (const offset of known.figures.keys()) if (offset >= common) known.figures.delete(offset);
  for (const each of answer.window) {
    if (each.form === undefined) Object.assign(each, known.figures.get(each.offset));
    else known.figures.set(each.offset, { form: each.form, bytes: each.bytes, allowed: each.allowed });
  }
  return answer;
}

const place = newest(async () => {
  if (!state.grammarId) return;
  try {
    const answer = await askForPlace();
    state.place = answer;
    showPlace(answer);
  } catch (error) {
    if (error.code === "NOT_FOUND") return void compile(); // the server's cache has let it go
    $("verdict").className = "no";
    $("verdict").textContent = `${error.code}: ${error.message}`;
  }
  document.documentElement.dataset.place = String(Number(document.documentElement.dataset.place ?? 0) + 1);
});

// Text of a token with what cannot be seen made visible.
function visible(text) {
  if (text === "") return "(empty)";
  const shown = text.replaceAll("\n", "\\n").replaceAll("\t", "\\t").replaceAll("\r", "\\r").replaceAll(" ", "\u00b7");
  return shown.replace(/\u00b7{5,}/g, (run) => `\u00b7\u00d7${run.length}`);
}

function showVerdict(answer) {
  const verdict = $("verdict");
  const stopped = !answer.accepted;
  verdict.className = stopped ? "no" : answer.may_end ? "yes" : "";
  verdict.textContent = stopped ? "refused" : answer.may_end ? "complete: the text may end here" : "good so far: the text may not end here";
  $("stop").hidden = !stopped;
  if (!stopped) return;
  const text = $("text").value;
  const index = charIndex(text, answer.byte_offset);
  const character = String.fromCodePoint(text.codePointAt(index) ?? 0);
  const where = answer.reason.where ? `, ${answer.reason.where}` : "";
  $("stop").textContent =
    `Refused at character ${index + 1}: ${JSON.stringify(character)} may not follow ${JSON.stringify(text.slice(Math.max(0, index - 20), index))}${where}.`;
}

function showTokens(answer) {
  const list = answer.window.map((each, i) => {
    const chip = document.createElement("span");
    const index = answer.first + i;
    chip.className = "token";
    chip.id = `token-${index}`;
    chip.setAttribute("role", "option");
    chip.setAttribute("aria-selected", String(index === answer.at));
    const count = document.createElement("i");
    count.textContent = each.allowed;
    chip.title = `${each.form}, ${each.bytes} bytes`;
    chip.append(each.token ? visible(each.token.text) : "\u25ae", count);
    chip.addEventListener("click", () => select(index));
    return chip;
  });
  if (answer.first > 0) list.unshift(`\u2026 ${answer.first} tokens before `);
  $("tokens").replaceChildren(...list);
  $("tokens").setAttribute("aria-activedescendant", `token-${answer.at}`);
}

function showHere(answer) {
  const dense = 4 * Math.ceil(answer.vocab_size / 32);
  const rows = [
    ["place", `behind token ${answer.at} of ${answer.count}`],
    ["allowed", `${answer.here.allowed} of ${answer.vocab_size} tokens${answer.at_may_end ? "; the text may end" : ""}`],
    ["row form", `${answer.here.form}, ${answer.here.bytes} bytes (a dense mask has ${dense})`],
    ["forced", answer.forced === "" ? "nothing: there is a choice" : visible(answer.forced)],
  ];
  if (answer.reason.where) rows.push(["stands", answer.reason.where]);
  $("here").replaceChildren(...rows.flatMap(([name, value]) => {
    const term = document.createElement("dt");
    const text = document.createElement("dd");
    term.textContent = name;
    text.textContent = value;
    return [term, text];
  }));
  const rules = ruleItems(answer.reason);
  $("rules").replaceChildren(...(rules.length ? rules : [ruleItem("", "no rule is known that speaks about this place")]));
}

function tokenButton(token) {
  const button = document.createElement("button");
  button.textContent = visible(token.text);
  button.className = `${token.refused ? "refused" : ""} ${token.special ? "special" : ""}`;
  button.title = `token ${token.id}${token.stop ? ", ends the text" : token.special ? ", special" : ""}${token.refused ? ": why is it refused?" : ""}`;
  button.addEventListener("click", () => (token.refused || token.special || token.bytes ? why(token) : append(token.text)));
  return button;
}

function showAllowed(answer) {
  const shown = $("find").value ? answer.found : answer.likely;
  const all = $("find").value ? answer.found_count : answer.here.allowed;
  const list = shown.map(tokenButton);
  if (all > shown.length) list.push(`and ${all - shown.length} more`);
  if (!all) list.push("none");
  $("allowed").replaceChildren(...list);
}

function showPlace(answer) {
  showVerdict(answer);
  showTokens(answer);
  showHere(answer);
  showAllowed(answer);
}

// The text before the selected place.
function textBefore(answer) {
  if (answer.at === answer.count) {
    return $("text").value.slice(0, charIndex($("text").value, answer.byte_offset));
  }
  const behind = answer.window.slice(answer.at - answer.first).map((each) => each.token?.text ?? "").join("");
  return $("text").value.slice(0, charIndex($("text").value, answer.byte_offset)).slice(0, -behind.length);
}

async function why(token) {
  const prefix = `${visible(token.text)} (token ${token.id})`;
  if (!token.refused) {
    $("why").textContent = token.stop ? `${prefix} ends the text.` : `${prefix} is allowed; it cannot be typed.`;
    return;
  }
  try {
    const answer = await ask("/api/why", question({ text: textBefore(state.place), token: token.id }));
    const where = answer.reason.where ? ` The text stands ${answer.reason.where}.` : "";
    $("why").replaceChildren(`${prefix} is refused: ${answer.message}.${where}`);
    const list = document.createElement("ul");
    list.append(...ruleItems(answer.reason));
    $("why").append(list);
  } catch (error) {
    $("why").textContent = `${error.code}: ${error.message}`;
  }
}

function select(index) {
  state.at = index;
  return place();
}

function setText(text) {
  $("text").value = text;
  state.at = null;
  $("why").textContent = "";
  return place();
}

const append = (text) => setText(textBefore(state.place) + text);

function stepBack() {
  const answer = state.place;
  if (!answer) return;
  const text = $("text").value;
  if (!answer.accepted) return setText(text.slice(0, charIndex(text, answer.byte_offset)));
  state.at = null;
  const last = [...answer.window].reverse().find((each) => each.token)?.token;
  if (last) setText(text.slice(0, -(last.bytes ? 1 : last.text.length)));
}

// One of the allowed tokens: those that come first are taken more often.
function pick(answer) {
  const words = answer.likely.filter((token) => !token.special && !token.bytes);
  if (!words.length) return null;
  const readable = words.filter((token) => /^[\p{L}\p{N}\p{P}\p{S} ]+$/u.test(token.text));
  const from = readable.length ? readable : words;
  return from[Math.floor(from.length * Math.random() ** 2)].text;
}

async function oneToken() {
  if (!state.place?.accepted) return false;
  state.at = null;
  const answer = await ask("/api/place", question({ limit: SOME }));
  const token = pick(answer);
  if (token === null) return false;
  await setText($("text").value + token);
  return true;
}

let generating = false;
async function generate() {
  if (generating) return void (generating = false);
  generating = true;
  $("generate").textContent = "Stop";
  try {
    for (let i = 0; i < GENERATE_TOKENS && generating; ++i) {
      if (state.place?.may_end && (state.place.here.allowed === 1 || Math.random() < 0.5)) return;
      if (!(await oneToken())) return;
    }
    if (generating && !state.place?.may_end) await ending();
  } finally {
    generating = false;
    $("generate").textContent = "Generate";
  }
}

async function ending() {
  try {
    const answer = await ask("/api/ending", question());
    await setText($("text").value + answer.text);
    $("why").textContent = answer.tokens.length
      ? `The shortest ending has ${answer.tokens.length} tokens: ${visible(answer.text)}`
      : "The text may end here: its shortest ending is empty.";
  } catch (error) {
    $("why").textContent = `${error.code}: ${error.message}`;
  }
}

function appendForced() {
  if (state.place?.forced) append(state.place.forced);
}

// ---- sharing ----

async function squeeze(bytes, Stream) {
  const stream = new Blob([bytes]).stream().pipeThrough(new Stream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const toBase64 = (bytes) => {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
};
const fromBase64 = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));

async function share() {
  const all = { ...grammar(), tokenizer: $("tokenizer").value, text: $("text").value };
  const packed = await squeeze(encoder.encode(JSON.stringify(all)), CompressionStream);
  history.replaceState(null, "", `#1=${toBase64(packed)}`);
  try {
    await navigator.clipboard.writeText(location.href);
    $("share").textContent = "Copied";
  } catch {
    $("share").textContent = "In the address bar";
  }
  setTimeout(() => ($("share").textContent = "Share"), 2000);
}

async function readShared() {
  if (!location.hash.startsWith("#1=")) return null;
  try {
    const packed = fromBase64(location.hash.slice(3));
    return JSON.parse(decoder.decode(await squeeze(packed, DecompressionStream)));
  } catch {
    $("why").textContent = "The shared address is damaged; nothing of it was read.";
    return null;
  }
}

function load({ kind, source, text, options = {}, tokenizer }) {
  $("kind").value = kind;
  $("source").value = source;
  $("text").value = text ?? "";
  state.at = null;
  for (const [name] of OPTIONS) $(`option-${name}`).value = options[name] === undefined ? "" : String(options[name]);
  if ([...$("tokenizer").options].some((each) => each.value === tokenizer)) $("tokenizer").value = tokenizer;
  state.ruleSpan = null;
  return compile();
}

// ---- beginning ----

function choice(values, labels = values) {
  return values.map((value, i) => new Option(labels[i], value));
}

function makeOptions() {
  for (const [name, kind] of OPTIONS) {
    const label = document.createElement("label");
    const isList = Array.isArray(kind) || kind === "boolean";
    const field = document.createElement(isList ? "select" : "input");
    if (isList) {
      const values = Array.isArray(kind) ? kind : ["true", "false"];
      field.append(...choice(["", ...values], ["default", ...values.map((value) => value.split("_").at(-1).toLowerCase())]));
    } else {
      field.type = kind;
      field.placeholder = "default";
    }
    field.id = `option-${name}`;
    field.addEventListener("change", compile);
    label.append(name, field);
    $("options").append(label);
  }
}

function setTheme() {
  const dark = document.documentElement.dataset.theme
    ? document.documentElement.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "light" : "dark";
}

function listen() {
  let timer = 0;
  $("source").addEventListener("input", () => {
    clearTimeout(timer);
    state.ruleSpan = null;
    timer = setTimeout(compile, COMPILE_DELAY_MS);
  });
  $("source").addEventListener("scroll", drawMarks);
  for (const id of ["kind", "tokenizer"]) $(id).addEventListener("change", compile);
  $("text").addEventListener("input", () => {
    state.at = null;
    place();
  });
  $("find").addEventListener("input", place);
  $("example").addEventListener("change", () => {
    const example = EXAMPLES[$("example").value];
    if (example) load({ kind: example[0], source: example[1], text: example[2], tokenizer: $("tokenizer").value });
  });
  $("tokens").addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
    if (step === undefined || !state.place) return;
    event.preventDefault();
    select(Math.min(Math.max(state.place.at + step, 0), state.place.count));
  });
  const actions = { back: stepBack, next: oneToken, generate, forced: appendForced, ending, clear: () => setText(""), share, theme: setTheme };
  for (const [id, action] of Object.entries(actions)) $(id).addEventListener("click", action);
  const keys = { ArrowLeft: stepBack, ArrowRight: oneToken, g: generate, f: appendForced, e: ending, s: share, d: setTheme };
  document.addEventListener("keydown", (event) => {
    if (!event.altKey || event.ctrlKey || event.metaKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
}

async function begin() {
  makeOptions();
  listen();
  const answer = await fetch("/api/about");
  const about = await answer.json();
  if (about.error) return showError(about.error);
  document.title = `maskd ${about.version} playground: ${about.server}`;
  $("kind").append(...choice(about.kinds));
  $("tokenizer").append(...about.tokenizers.map((each) => new Option(`${each.name} (${each.vocab_size})`, each.name)));
  $("example").append(...choice(Object.keys(EXAMPLES)));
  if (about.has_metrics) watchServer();
  const [kind, source, text] = Object.values(EXAMPLES)[0];
  await load((await readShared()) ?? { kind, source, text });
}

addEventListener("hashchange", async () => {
  const shared = await readShared();
  if (shared) load(shared);
});
begin();

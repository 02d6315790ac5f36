// The search over all pages: the index is fetched when the field is first used.
const MAX_FOUND = 12;
const form = document.querySelector('.docs-search');
const field = document.getElementById('docs-query');
const results = document.getElementById('docs-results');
const status = document.getElementById('docs-found');
let index = null;

form.hidden = false;
field.addEventListener('focus', load, { once: true });
field.addEventListener('input', search);
form.addEventListener('keydown', move);
form.addEventListener('submit', (event) => {
  event.preventDefault();
  results.querySelector('a')?.click();
});
document.addEventListener('keydown', (event) => {
  const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  field.focus();
});

async function load() {
  const response = await fetch('/docs/search.json');
  index = (await response.json()).map((entry) => ({
    ...entry,
    title: `${entry.heading} ${entry.page}`.toLowerCase(),
    body: entry.text.toLowerCase(),
  }));
  search();
}

function search() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = index && words.length > 0 ? rank(words) : [];
  results.replaceChildren(...found.map((entry) => toItem(entry, words[0])));
  const isOpen = index !== null && words.length > 0;
  results.hidden = !isOpen || found.length === 0;
  status.textContent = isOpen ? `${found.length || 'Nothing'} found` : '';
}

// Entries that have every word; a word in a heading counts for more than one in the text.
function rank(words) {
  const scored = index.map((entry) => {
    const scores = words.map((word) => scoreOf(entry, word));
    return { entry, score: scores.includes(0) ? 0 : scores.reduce((sum, score) => sum + score, 0) };
  });
  return scored
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, MAX_FOUND)
    .map(({ entry }) => entry);
}

function scoreOf({ title, body }, word) {
  return (title.includes(word) ? 10 : 0) + (body.includes(word) ? 1 : 0);
}

function toItem({ page, heading, url, text }, word) {
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.href = url;
  const title = document.createElement('strong');
  title.textContent = heading === page ? page : `${page}: ${heading}`;
  link.append(title, cut(text, word));
  item.append(link);
  return item;
}

// The text around the word, in whole words.
function cut(text, word) {
  const near = Math.max(0, text.toLowerCase().indexOf(word) - 40);
  const start = near > 0 ? text.indexOf(' ', near) + 1 : 0;
  const before = start > 0 ? '… ' : '';
  const shown = text.slice(start, start + 110);
  if (start + shown.length === text.length) return before + shown;
  const end = shown.lastIndexOf(' ');
  return `${before}${end > 0 ? shown.slice(0, end) : shown} …`;
}

// The arrow keys go through the field and what was found; Escape empties the field.
function move(event) {
  const stops = [field, ...results.querySelectorAll('a')];
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.key === 'Escape') {
    field.value = '';
    field.focus();
    search();
  } else if (step) {
    event.preventDefault();
    stops.at((stops.indexOf(document.activeElement) + step) % stops.length).focus();
  }
}

// The language of samples is chosen once, for all of them and for the next page.
const KEPT = 'sample-language';
choose(readKept());
document.addEventListener('change', ({ target }) => {
  if (!target.matches('.tabs > input')) return;
  choose(target.value);
  try {
    localStorage.setItem(KEPT, target.value);
  } catch {
    // A browser may forbid it; then the choice lasts for this page.
  }
});

function choose(language) {
  for (const input of document.querySelectorAll('.tabs > input')) if (input.value === language) input.checked = true;
}

function readKept() {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null;
  }
}

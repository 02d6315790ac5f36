import { find, firstWord, prepare } from './docs-search.js';

// Search over all pages. The index is fetched when the field is first used.
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
  index = prepare(await response.json());
  search();
}

function search() {
  const found = index ? find(index, field.value) : [];
  const word = firstWord(field.value);
  results.replaceChildren(...found.map((entry) => toItem(entry, word)));
  const isOpen = index !== null && word !== '';
  results.hidden = !isOpen || found.length === 0;
  status.textContent = isOpen ? `${found.length || 'Nothing'} found` : '';
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

// Returns the text around the word, in whole words.
function cut(text, word) {
  const near = Math.max(0, text.toLowerCase().indexOf(word) - 40);
  const start = near > 0 ? text.indexOf(' ', near) + 1 : 0;
  const before = start > 0 ? '… ' : '';
  const shown = text.slice(start, start + 110);
  if (start + shown.length === text.length) return before + shown;
  const end = shown.lastIndexOf(' ');
  return `${before}${end > 0 ? shown.slice(0, end) : shown} …`;
}

// The arrow keys move between the field and the results; Escape clears the field.
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

// Choosing a language applies to all samples, and to later pages.
const KEPT = 'sample-language';
choose(readKept());
document.addEventListener('change', ({ target }) => {
  if (!target.matches('.tabs > input')) return;
  choose(target.value);
  try {
    localStorage.setItem(KEPT, target.value);
  } catch {
    // Storage may be blocked; then the choice lasts for this page only.
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

import { find, firstWord, prepare } from './docs-search.js';

// Search over all pages. The index is fetched when the field is first used.
const form = document.querySelector('.docs-search');
const field = document.getElementById('docs-query');
const results = document.getElementById('docs-results');
const status = document.getElementById('docs-found');
let index = null;
let selected = -1;

form.hidden = false;
field.addEventListener('focus', load, { once: true });
field.addEventListener('input', search);
field.addEventListener('keydown', move);
field.addEventListener('focus', search);
form.addEventListener('focusout', ({ relatedTarget }) => {
  if (!form.contains(relatedTarget)) close();
});
// A click on a result, or on the scroll bar, leaves the focus in the field.
results.addEventListener('mousedown', (event) => event.preventDefault());
form.addEventListener('submit', (event) => {
  event.preventDefault();
  (options()[selected] ?? options()[0])?.click();
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
  results.replaceChildren(...found.map((entry, index) => toOption(entry, word, index)));
  const isKnown = index !== null && word !== '';
  setOpen(isKnown && found.length > 0);
  const help = found.length > 0 ? ': arrow keys to choose, Enter to open' : '';
  status.textContent = isKnown ? `${found.length || 'Nothing'} found${help}` : '';
  select(-1);
}

function setOpen(isOpen) {
  results.hidden = !isOpen;
  field.setAttribute('aria-expanded', isOpen);
}

function close() {
  setOpen(false);
  select(-1);
}

function options() {
  return [...results.children];
}

function toOption({ page, heading, url, text }, word, at) {
  const link = document.createElement('a');
  link.href = url;
  link.id = `docs-result-${at}`;
  link.role = 'option';
  link.tabIndex = -1;
  const title = document.createElement('strong');
  title.textContent = heading === page ? page : `${page}: ${heading}`;
  link.append(title, cut(text, word));
  return link;
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

// Marks a result; the focus stays in the field, so that typing continues the search.
function select(at) {
  selected = at;
  for (const [own, option] of options().entries()) option.ariaSelected = String(own === at);
  const option = options()[at];
  option?.scrollIntoView({ block: 'nearest' });
  if (option) field.setAttribute('aria-activedescendant', option.id);
  else field.removeAttribute('aria-activedescendant');
}

// The arrow keys choose a result; Escape closes the list, then clears the field.
function move(event) {
  const count = options().length;
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.key === 'Escape') {
    event.preventDefault();
    if (results.hidden) field.value = '';
    close();
  } else if (step && count > 0) {
    event.preventDefault();
    setOpen(true);
    // The field itself comes before the first result and after the last.
    select(((selected + step + 1 + count + 1) % (count + 1)) - 1);
  }
}

// Scrolls the navigation to the current page; on a phone, when it is opened.
const contents = document.querySelector('.contents');
contents.addEventListener('toggle', () => showCurrent(contents.querySelector('nav')));
showCurrent(document.querySelector('.side > nav'));

function showCurrent(nav) {
  const link = nav.querySelector('[aria-current]');
  if (!link) return;
  const visible = Math.min(nav.clientHeight, innerHeight - nav.getBoundingClientRect().top);
  const top = link.getBoundingClientRect().top - nav.getBoundingClientRect().top + nav.scrollTop;
  if (top + link.clientHeight > visible) nav.scrollTop = top - visible / 2;
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

// A link to a field or parameter unfolds what is around it, in browsers that do not do so themselves.
addEventListener('hashchange', unfoldTarget);
unfoldTarget();

function unfoldTarget() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  const folds = [];
  for (let fold = target.closest('details'); fold; fold = fold.parentElement.closest('details')) folds.push(fold);
  const isFolded = folds.some(({ open }) => !open);
  for (const fold of folds) fold.open = true;
  // Unfold the rest of the target's own description too.
  const more = target.querySelector(':scope > dd > .more');
  if (more) more.open = true;
  if (isFolded) target.scrollIntoView();
}

// Suggestions under a field while typing: an ARIA combobox for pointer and keyboard.
import { h } from './view.js';

/** Each search is charged as a request, so it waits for a pause and for at least three letters. */
const PAUSE_MS = 250;
const MIN_LETTERS = 3;

/**
 * @param {HTMLInputElement} field
 * @param {{ find: (text: string) => Promise<{ name: string, hint: string }[]>, onChoose: (found: object) => void, submits?: boolean }} options
 *   `submits`: Enter chooses the first suggestion if none is marked, and submits the form
 */
export function suggest(field, { find, onChoose, submits = false }) {
  const list = h('ul', { role: 'listbox', id: `${field.id}-list`, class: 'suggestions', 'aria-label': 'Suggestions' });
  list.hidden = true;
  field.after(list);
  const attributes = {
    role: 'combobox',
    'aria-autocomplete': 'list',
    'aria-controls': list.id,
    'aria-expanded': 'false',
    autocomplete: 'off',
  };
  for (const [name, value] of Object.entries(attributes)) field.setAttribute(name, value);
  let found = [];
  let active = -1;
  let turn = 0;
  let pause = 0;

  function draw(next, at = -1) {
    found = next;
    active = at;
    list.hidden = found.length === 0;
    field.setAttribute('aria-expanded', String(!list.hidden));
    if (active >= 0) field.setAttribute('aria-activedescendant', `${list.id}-${active}`);
    else field.removeAttribute('aria-activedescendant');
    list.replaceChildren(...found.map(option));
  }

  function option(suggestion, index) {
    const attributes = { role: 'option', id: `${list.id}-${index}`, 'aria-selected': String(index === active) };
    // `mousedown` fires before the field loses focus, which closes the list.
    const onmousedown = (event) => {
      event.preventDefault();
      choose(suggestion);
    };
    return h('li', { ...attributes, onmousedown }, suggestion.name, h('span', { class: 'hint' }, suggestion.hint));
  }

  function close() {
    turn += 1;
    clearTimeout(pause);
    draw([]);
  }

  function choose(suggestion) {
    close();
    onChoose(suggestion);
  }

  async function lookUp(text) {
    turn += 1;
    const ownTurn = turn;
    const next = await find(text).catch(() => []);
    if (ownTurn === turn) draw(next);
  }

  field.addEventListener('input', () => {
    const text = field.value.trim();
    clearTimeout(pause);
    if (text.length < MIN_LETTERS) close();
    else pause = setTimeout(lookUp, PAUSE_MS, text);
  });
  field.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && found.length > 0) {
      event.preventDefault();
      // One position more than there are suggestions, because the field itself counts too.
      const places = found.length + 1;
      draw(found, ((active + 1 + step + places) % places) - 1);
    } else if (event.key === 'Enter') {
      const suggestion = found[active] ?? (submits ? found[0] : undefined);
      if (suggestion && !submits) event.preventDefault();
      if (suggestion) choose(suggestion);
      else close();
    } else if (event.key === 'Escape' && found.length > 0) {
      event.preventDefault();
      close();
    }
  });
  field.addEventListener('blur', close);
}

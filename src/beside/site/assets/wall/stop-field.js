// Suggests stops by name in the forms that make a link to a board, as one types. Without it a name is looked up when the form is sent.
import { suggest } from '../explore/suggest.js';

for (const form of document.querySelectorAll('form[action="/keys/board"]')) {
  const { stop, token } = form.elements;
  suggest(stop, {
    async find(text) {
      // An identifier needs no search.
      if (/^g?\d*$/i.test(text)) return [];
      const body = new URLSearchParams({ token: token.value, stop: text });
      const response = await fetch('/keys/stops', { method: 'POST', body });
      const { stops = [] } = response.ok ? await response.json() : {};
      return stops.map(({ stop_id, name, modes }) => ({ id: stop_id, name, hint: modes.join(' · ') }));
    },
    onChoose({ id }) {
      stop.value = id;
    },
  });
}

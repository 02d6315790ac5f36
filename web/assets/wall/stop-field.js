// Suggests stops while typing in forms that create wall links. Without this script, the server looks the name up on submit.
import { nameModes } from '../explore/mode-names.js';
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
      return stops.map(({ stop_id, name, modes }) => ({ id: stop_id, name, hint: nameModes(modes).join(' · ') }));
    },
    onChoose({ id }) {
      stop.value = id;
    },
  });
}

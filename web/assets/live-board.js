// The board of the home page: updates its age, and fetches a new board twice a minute. On failure the age keeps growing.
import { ageText, everyWhileVisible } from './age.js';

let shownAt = performance.now();

setInterval(() => {
  const age = document.querySelector('#live-board .age');
  if (age) age.textContent = `${ageText(Number(age.dataset.ageSeconds) + (performance.now() - shownAt) / 1000)} ago`;
}, 1000);

everyWhileVisible(30_000, async () => {
  const response = await fetch('/live-board').catch(() => null);
  if (!response?.ok) return;
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html').getElementById('live-board');
  if (!fresh?.querySelector('table')) return;
  document.getElementById('live-board').replaceWith(fresh);
  shownAt = performance.now();
});

import { type Html, html } from '../html.ts';

/** The scripts of the console need this in the head of a page. */
export const CONSOLE_HEAD = html`<link rel="stylesheet" href="/assets/console.css">
<script type="module" src="/assets/console.js"></script>`;

/**
 * A place for Swagger UI, which asks the operations from the page. It is fetched when its button is pressed, because it
 * weighs more than all the rest of the documentation. Without `operation` it shows all of them.
 */
export function consoleSection(testKey: string | null, operation = ''): Html {
  return html`<section id="try" aria-labelledby="try-title" class="try">
<h2 id="try-title">Try it</h2>
<p>${
    testKey
      ? html`The key of this sandbox is filled in: <code id="test-key">${testKey}</code>`
      : html`The key that you have used in the explorer in this browser is filled in; or press Authorize and paste yours. No key yet? <a href="/signup">Get one</a>.`
  }</p>
<p><button type="button" id="open-console" data-operation="${operation}" data-key="${testKey}" hidden>Open the console</button></p>
<noscript><p class="notice">The console needs JavaScript. The samples above run without it.</p></noscript>
<div id="swagger-ui"></div>
</section>`;
}

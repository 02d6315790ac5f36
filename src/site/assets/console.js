// Swagger UI, fetched when its button is pressed.
const FILES = '/assets/swagger-ui/';
const button = document.getElementById('open-console');
const place = document.getElementById('swagger-ui');
button.hidden = false;
button.addEventListener('click', open);

async function open() {
  button.disabled = true;
  button.textContent = 'Fetching the console …';
  try {
    await Promise.all([addStyles(), addScript()]);
    const description = await (await fetch('/openapi.json')).json();
    show(description, button.dataset);
    button.parentElement.remove();
  } catch {
    button.disabled = false;
    button.textContent = 'The console could not be fetched. Try again';
  }
}

function show(description, { operation, key }) {
  const ownKey = key || keptKey();
  const ui = SwaggerUIBundle({
    spec: toTryOut(description, operation),
    domNode: place,
    presets: [SwaggerUIBundle.presets.apis],
    layout: 'BaseLayout',
    docExpansion: operation ? 'full' : 'list',
    tryItOutEnabled: true,
    defaultModelsExpandDepth: -1,
    // With deep links Swagger UI puts a link inside of a button, which screen readers cannot tell apart.
    deepLinking: false,
    responseInterceptor: showNotice,
    onComplete: () => ownKey && ui.preauthorizeApiKey('apiKey', ownKey),
  });
}

// The key that the explorer keeps in this browser; one of a sandbox may be that of another sandbox.
function keptKey() {
  try {
    const kept = localStorage.getItem('transit-key');
    return kept?.startsWith('tis_live_') ? kept : null;
  } catch {
    return null;
  }
}

// The one operation, or all; asked from this server, whatever its public name is.
function toTryOut(description, operation) {
  const paths = Object.entries(description.paths)
    .filter(([path, { get }]) => !path.endsWith('/stream') && (!operation || get.operationId === operation))
    .map(([path, { get }]) => [path, { get: { ...get, parameters: get.parameters.map(fillIn) } }]);
  return { ...description, paths: Object.fromEntries(paths), servers: [{ url: '/' }] };
}

// Why a list is empty, in words.
function showNotice(response) {
  const notice = document.getElementById('console-notice');
  notice.textContent = response.headers?.['x-notice'] ?? '';
  notice.hidden = notice.textContent === '';
  return response;
}

// Swagger UI fills a field in from the parameter's own `example`, not from the examples in its schema.
function fillIn(parameter) {
  if (parameter.name === 'modes') return { ...parameter, example: ['all'] };
  const [example] = (parameter.required && parameter.schema?.examples) || [];
  return example === undefined ? parameter : { ...parameter, example };
}

function addStyles() {
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.href = `${FILES}swagger-ui.css`;
  const loaded = whenLoaded(link);
  // Before our own styles, which are to win.
  document.head.prepend(link);
  return loaded;
}

function addScript() {
  const script = document.createElement('script');
  script.src = `${FILES}swagger-ui-bundle.js`;
  const loaded = whenLoaded(script);
  document.head.append(script);
  return loaded;
}

function whenLoaded(element) {
  return new Promise((resolve, reject) => {
    element.addEventListener('load', resolve);
    element.addEventListener('error', reject);
  });
}

// Swagger UI has a dark dress of its own, by a class.
const dark = matchMedia('(prefers-color-scheme: dark)');
const dress = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', dress);
dress();

// Swagger UI leaves some of its parts without a name, or out of reach of the keyboard.
new MutationObserver(() => {
  for (const select of place.querySelectorAll('select:not([aria-label])')) {
    select.setAttribute('aria-label', 'Choose an example or a media type');
  }
  for (const block of place.querySelectorAll('pre:not([tabindex])')) block.tabIndex = 0;
}).observe(place, { childList: true, subtree: true });

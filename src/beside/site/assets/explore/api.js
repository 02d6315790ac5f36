// Asks the service as any front end would: fetch, the key in the Authorization header, errors by their body.

/** The error that the service sent in place of a response. */
export class ServiceError extends Error {
  constructor({ code, message, docs }, status) {
    super(message);
    this.code = code;
    this.docs = docs;
    this.status = status;
  }
}

/** The response, its notice if any, the path that was asked, and how old the response was when it came. */
export async function ask(path, query, key) {
  if (!/^[\x21-\x7e]+$/.test(key)) throw new Error('Put a key into the field: letters, digits and underscores.');
  const asked = `/v1/${path}?${new URLSearchParams(query)}`;
  const response = await reach(asked, key);
  const body = await response.json().catch(() => null);
  if (body === null) throw new Error('The service did not respond as itself. Is there something between?');
  if (!response.ok)
    throw new ServiceError(body.error ?? { message: 'The service cannot be reached.' }, response.status);
  const notice = response.headers.get('x-notice');
  return { body, path: asked, ageSeconds: Number(response.headers.get('age')), at: performance.now(), notice };
}

async function reach(url, key) {
  try {
    // The browser asks whether the response that it has still holds, which costs nothing when it does.
    return await fetch(url, { headers: { authorization: `Bearer ${key}` }, cache: 'no-cache' });
  } catch {
    throw new Error('The service cannot be reached. Are you online?');
  }
}

const KEPT = 'transit-key';

/** The key field, kept in this browser. What the page came with is the sandbox's and wins over one of its kind. */
export function keepKey(field) {
  const kept = store((storage) => storage.getItem(KEPT));
  const isNewer = field.value.startsWith('tis_test_') && kept?.startsWith('tis_test_');
  if (kept && !isNewer) field.value = kept;
  field.addEventListener('change', () => {
    field.value = field.value.trim();
    store((storage) => (field.value ? storage.setItem(KEPT, field.value) : storage.removeItem(KEPT)));
  });
}

/** A browser may forbid the storage; then the key lasts for this page. */
function store(use) {
  try {
    return use(localStorage);
  } catch {
    return null;
  }
}

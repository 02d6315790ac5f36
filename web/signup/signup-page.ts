import type { FastifyInstance, FastifyRequest } from 'fastify';
import { MAX_LIVE_KEYS } from '#src/access/account.ts';
import { PLANS } from '#src/access/plan.ts';
import type { Restrictions } from '#src/access/restrictions.ts';
import { wantsPage } from '#src/http/paths.ts';
import { type Html, html } from '../html.ts';
import { fixedPage, type Layout, sendPage } from '../layout.ts';
import { type FieldErrors, invalidForm, parseForm, signupForm } from './form.ts';
import type { KeyService } from './key-service.ts';
import type { Throttle } from './throttle.ts';

/** `GET` and `POST /signup`: mails a key to the address given. */
export async function signupPage(
  app: FastifyInstance,
  options: {
    layout: Layout;
    keyService: KeyService;
    throttle: Throttle;
    restrictions?: Restrictions | null | undefined;
    isSandbox: boolean;
    /** Text shown after a key was mailed. */
    sentText: string;
    /** Text shown when the mail is being retried. */
    laterText: string;
  },
): Promise<void> {
  const { layout, keyService, throttle, isSandbox, sentText, laterText } = options;
  const render = (errors: FieldErrors = {}, values: Partial<SignupValues> = {}) =>
    layout({
      title: Object.keys(errors).length > 0 ? 'Error: Get a key' : 'Get a key',
      description: 'Get a free API key by email.',
      path: '/signup',
      body: formView(isSandbox, errors, values),
    });

  app.get(
    '/signup',
    fixedPage(() => render()),
  );

  app.post('/signup', async (request, reply) => {
    const { fields, errors } = parseForm(signupForm, request.body);
    if (errors) {
      if (wantsPage(request)) return sendPage(reply.code(400), render(errors, submittedValues(request)));
      throw invalidForm(errors);
    }
    const refusal = options.restrictions?.ofDomain(fields.email.slice(fields.email.lastIndexOf('@') + 1));
    if (refusal) throw refusal;
    const isSent = await throttle.count(request.ip, fields.email, () => keyService.signUp(fields.email, fields.label));
    if (wantsPage(request)) return reply.redirect(isSent ? '/signup/sent' : '/signup/later', 303);
    const body = isSent ? { status: 'sent', message: sentText } : { status: 'delayed', message: laterText };
    return reply.code(202).send(body);
  });
}

interface SignupValues {
  email: string;
  label: string;
  terms: boolean;
}

/** Returns the submitted values, truncated, to refill the form after an error. */
function submittedValues(request: FastifyRequest): SignupValues {
  const { email, label, terms } = (request.body ?? {}) as Record<string, unknown>;
  const text = (value: unknown) => (typeof value === 'string' ? value.slice(0, 300) : '');
  return { email: text(email), label: text(label), terms: terms === 'on' };
}

function formView(isSandbox: boolean, errors: FieldErrors, values: Partial<SignupValues>): Html {
  const problems = Object.entries(errors);
  const first = ['email', 'label', 'terms'].find((name) => errors[name]);
  const problem = (name: string) =>
    errors[name] && html` aria-invalid="true" aria-describedby="${name}-error"${name === first && html` autofocus`}`;
  return html`<h1>Get a key</h1>
<p class="lead">Free, ${PLANS.free.dailyLimit.toLocaleString('en')} requests a day. We email you the key.</p>
${
  problems.length > 0 &&
  html`<div class="notice bad" role="alert"><p><strong>Nothing was sent. Please correct the form.</strong></p><ul>${problems.map(
    ([name, message]) => html`<li><a href="#${name}">${message}</a></li>`,
  )}</ul></div>`
}
<form class="fields card" method="post" action="/signup" novalidate>
<div>
<label for="email">Email address</label>
<input type="email" id="email" name="email" value="${values.email}" required maxlength="254" autocomplete="email" spellcheck="false"${problem('email')}>
${message('email', errors)}
</div>
<div>
<label for="label">Label <span class="hint">Optional name for the key, for example “phone app”.</span></label>
<input type="text" id="label" name="label" value="${values.label}" maxlength="40" autocomplete="off"${problem('label')}>
${message('label', errors)}
</div>
<div>
<label class="check" for="terms"><input type="checkbox" id="terms" name="terms" value="on" required${values.terms && html` checked`}${problem('terms')}> <span>I will keep the key secret and credit Transport for NSW as the source of the data (CC BY 4.0). I understand that the data comes without warranty.</span></label>
${message('terms', errors)}
</div>
<p class="actions"><button>Send me a key</button></p>
</form>
<h2>Good to know</h2>
<ul>
<li>We use your address only for keys and notices about this service. While you have an account we store the address and a fingerprint (hash) of each key, never the key itself. Daily request counts are deleted after a month. To have everything deleted, write to the contact in <a href="/.well-known/security.txt">security.txt</a>.</li>
<li>An address can have ${MAX_LIVE_KEYS} keys. They share one daily limit.</li>
<li>Have a key already? <a href="/keys">See, replace or revoke</a> your keys.</li>
<li>Need more requests a day? <a href="/#plans">Compare the plans.</a></li>
${isSandbox && html`<li>This is a sandbox: its keys work only in a sandbox. The explorer and the docs have a key that works without signing up.</li>`}
</ul>`;
}

function message(name: string, errors: FieldErrors): Html | undefined {
  return errors[name] ? html`<p class="field-error" id="${name}-error">${errors[name]}</p>` : undefined;
}

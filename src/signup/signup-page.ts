import type { FastifyInstance, FastifyRequest } from 'fastify';
import { MAX_LIVE_KEYS } from '../access/account.ts';
import { PLANS } from '../access/plan.ts';
import { ApiError } from '../errors.ts';
import { type Html, html } from '../site/html.ts';
import type { Layout } from '../site/layout.ts';
import { sendPage } from '../site/page-answer.ts';
import type { Desk } from './desk.ts';
import { type FieldErrors, fieldErrors, signupForm } from './form.ts';
import { refuseForeignForms } from './origin.ts';
import { wantsPage } from './page-errors.ts';
import type { Throttle } from './throttle.ts';

export interface SignupPageOptions {
  layout: Layout;
  publicUrl: string;
  desk: Desk;
  throttle: Throttle;
  isSandbox: boolean;
}

const SENT = 'If the address can take mail, the key is on its way. Look into the spam folder, too.';

/** `GET` and `POST /signup`: an address in, a key by mail. */
export async function signupPage(app: FastifyInstance, options: SignupPageOptions): Promise<void> {
  const { layout, publicUrl, desk, throttle } = options;
  const draw = (errors: FieldErrors = {}, values: Values = {}) =>
    layout({
      title: Object.keys(errors).length > 0 ? 'Error: Get a key' : 'Get a key',
      description: 'A free API key by mail, at once.',
      path: '/signup',
      body: formBody(options, errors, values),
    });

  app.get('/signup', async (_request, reply) => sendPage(reply, draw()));

  app.post('/signup', async (request, reply) => {
    refuseForeignForms(request, publicUrl);
    const form = signupForm.safeParse(request.body ?? {});
    if (!form.success) {
      const errors = fieldErrors(form.error);
      if (wantsPage(request)) return sendPage(reply.code(400), draw(errors, valuesOf(request)));
      throw new ApiError('INVALID_PARAMETER', Object.values(errors).join(' '));
    }
    const { email, label } = form.data;
    throttle.take(request.ip, email);
    await desk.signUp(email, label);
    if (wantsPage(request)) return reply.redirect('/signup/sent', 303);
    return reply.code(202).send({ status: 'sent', message: SENT });
  });

  app.get('/signup/sent', async (_request, reply) =>
    sendPage(reply, layout({ title: 'Look into your inbox', body: sentBody() })),
  );
}

interface Values {
  email?: string;
  label?: string;
  terms?: boolean;
}

/** What was typed, to be typed no second time; of a sane length. */
function valuesOf(request: FastifyRequest): Values {
  const { email, label, terms } = (request.body ?? {}) as Record<string, unknown>;
  const text = (value: unknown) => (typeof value === 'string' ? value.slice(0, 300) : '');
  return { email: text(email), label: text(label), terms: terms === 'on' };
}

function formBody({ isSandbox }: SignupPageOptions, errors: FieldErrors, values: Values): Html {
  const problems = Object.entries(errors);
  return html`<h1>Get a key</h1>
<p class="lead">Free, ${PLANS.free.dailyLimit.toLocaleString('en')} requests a day. The key comes by mail, at once.</p>
${
  problems.length > 0 &&
  html`<div class="notice bad" role="alert"><p><strong>Nothing was sent yet.</strong></p><ul>${problems.map(
    ([name, message]) => html`<li><a href="#${name}">${message}</a></li>`,
  )}</ul></div>`
}
<form class="fields card" method="post" action="/signup" novalidate>
<div>
<label for="email">E-mail address</label>
<input type="email" id="email" name="email" value="${values.email}" required maxlength="254" autocomplete="email" spellcheck="false"${problem('email', errors)}>
${message('email', errors)}
</div>
<div>
<label for="label">Label <span class="hint">Optional. What the key is for, so that you recognise it among your keys.</span></label>
<input type="text" id="label" name="label" value="${values.label}" maxlength="40" autocomplete="off"${problem('label', errors)}>
${message('label', errors)}
</div>
<div>
<label class="check" for="terms"><input type="checkbox" id="terms" name="terms" value="on" required${values.terms && html` checked`}${problem('terms', errors)}> <span>I keep the key to myself, name Transport for NSW as the source of the data (CC BY 4.0), and know that it comes without a warranty.</span></label>
${message('terms', errors)}
</div>
<p class="actions"><button>Send me a key</button></p>
</form>
<h2>Before you ask</h2>
<ul>
<li>Your address is used for keys and nothing else. We keep it with your keys’ fingerprints (never the keys) as long as you have an account, and how many requests were made a day for a month. To have all of it deleted, write to us: the address is in <a href="/.well-known/security.txt">security.txt</a>.</li>
<li>An address can have ${MAX_LIVE_KEYS} keys; they share one daily count.</li>
<li>Have a key? <a href="/keys">See, replace or revoke</a> what you have.</li>
<li>More than that a day? <a href="/#plans">There are plans.</a></li>
${isSandbox && html`<li>This is a sandbox: the explorer and the docs have a key that works without signing up.</li>`}
</ul>`;
}

function sentBody(): Html {
  return html`<h1>Look into your inbox</h1>
<p class="lead" role="status">${SENT}</p>
<p>The mail has the key and a <code>curl</code> that works. Meanwhile: <a href="/docs">the reference</a>, <a href="/explore">the map</a>.</p>
<h2>No mail after five minutes?</h2>
<ul>
<li>Check the address: we cannot tell you whether it is right, only its owner can. <a href="/signup">Send it again</a></li>
<li>Some mail systems hold back mail from senders they do not know for a quarter of an hour.</li>
</ul>`;
}

function problem(name: string, errors: FieldErrors): Html | undefined {
  return errors[name] ? html` aria-invalid="true" aria-describedby="${name}-error"` : undefined;
}

function message(name: string, errors: FieldErrors): Html | undefined {
  return errors[name] ? html`<p class="field-error" id="${name}-error">${errors[name]}</p>` : undefined;
}

import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { normaliseEmail } from '#src/access/account.ts';
import { ApiError } from '#src/errors/api-error.ts';

const MAX_LABEL = 40;

/** Text of one form field; empty if the field is missing or was sent twice. */
const field = z.string().default('').catch('');

const emailField = field.transform((text, context) => {
  const email = normaliseEmail(text);
  if (email) return email;
  const message = text.trim() === '' ? 'Enter your email address.' : 'Enter an email address such as name@example.com.';
  context.issues.push({ code: 'custom', input: text, message });
  return z.NEVER;
});

const labelField = field
  .transform((label) => label.trim())
  .refine(
    (label) => label.length <= MAX_LABEL && !/\p{C}/u.test(label),
    `Use up to ${MAX_LABEL} characters, without control characters.`,
  );

const isChecked = z
  .unknown()
  .default(false)
  .transform((value) => value === 'on' || value === 'true' || value === true);
const termsField = isChecked.refine((isAccepted) => isAccepted, 'Accept the terms to get a key.');

export const signupForm = z.object({ email: emailField, label: labelField, terms: termsField });
export const linkForm = z.object({ email: emailField });
export const openKeysForm = z.object({ token: field });
export const newKeyForm = z.object({ token: field, label: labelField });
export const newPublishableKeyForm = newKeyForm.extend({
  origins: field.transform((text) => text.split(/[\s,]+/)),
  apps: isChecked,
  operations: z.union([z.array(z.string()), z.string().transform((text) => text.split(','))]).catch([]),
  perDay: field,
  perVisitorHour: field,
});
export const quotaMailsForm = z.object({ token: field, mails: field });
export const boardLinkForm = z.object({
  token: field,
  key: field,
  stop: field
    .transform((stop) => stop.trim())
    .pipe(z.string().min(1, 'Enter the name or ID of a stop.').max(100, 'Enter at most 100 characters.')),
});
export const stopNameForm = boardLinkForm.omit({ key: true });
export const revokeForm = z.object({ token: field, key: field });
export const rotateForm = revokeForm.extend({
  overlap: field.pipe(z.string().regex(/^[0-7]$/, 'Choose 0 to 7 days.')).transform(Number),
});

/** First problem of each field. */
export type FieldErrors = Partial<Record<string, string>>;

/** Validates a form. Throws `INVALID_PARAMETER` if the body has no fields at all, such as text or a JSON array. */
export function parseForm<Fields>(
  schema: z.ZodType<Fields>,
  body: unknown,
): { fields: Fields; errors: null } | { fields: null; errors: FieldErrors } {
  const fields = body ?? {};
  if (typeof fields !== 'object' || Array.isArray(fields)) {
    throw new ApiError('INVALID_PARAMETER', 'Send the fields as a form or as a JSON object.');
  }
  const { data, error } = schema.safeParse(fields);
  if (!error) return { fields: data, errors: null };
  const errors: FieldErrors = {};
  for (const { path, message } of error.issues) errors[String(path[0])] ??= message;
  return { fields: null, errors };
}

/** Like `parseForm`, for forms that are not shown again with their errors: throws `INVALID_PARAMETER`. */
export function expectForm<Fields>(schema: z.ZodType<Fields>, body: unknown): Fields {
  const { fields, errors } = parseForm(schema, body);
  if (errors) throw invalidForm(errors);
  return fields;
}

/** Names the invalid fields but not their values, which are addresses and secrets. */
export function invalidForm(errors: FieldErrors): ApiError {
  const problems = Object.entries(errors).map(([field, message]) => `${field}: ${message}`);
  return new ApiError('INVALID_PARAMETER', problems.join(' '));
}

/**
 * Rejects forms sent from another site. There is no cookie that CSRF could misuse, but another site could make its visitors'
 * browsers request mails. Programs such as curl send neither `Origin` nor `Sec-Fetch-Site`.
 */
export function refuseCrossSiteForm(request: FastifyRequest, publicUrl: string): void {
  const { origin, 'sec-fetch-site': site, host } = request.headers;
  const isOwnSite = site === undefined || site === 'same-origin' || site === 'none';
  const isOwnOrigin = origin === undefined || origin === new URL(publicUrl).origin || URL.parse(origin)?.host === host;
  if (isOwnSite && isOwnOrigin) return;
  throw new ApiError(
    'INVALID_PARAMETER',
    'This form was sent from another site. Open the page on this site and send the form again.',
  );
}

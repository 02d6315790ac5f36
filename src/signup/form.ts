import { z } from 'zod';
import { normaliseEmail } from '../access/account.ts';

const MAX_LABEL = 40;

/** Text of one form field; a field sent twice counts as wrong, a missing one as empty. */
const field = z.string().default('').catch('');

const emailField = field.transform((text, context) => {
  const email = normaliseEmail(text);
  if (email) return email;
  const message =
    text.trim() === '' ? 'Enter your e-mail address.' : 'Enter an e-mail address such as name@example.com.';
  context.issues.push({ code: 'custom', input: text, message });
  return z.NEVER;
});

const labelField = field
  .transform((label) => label.trim())
  .refine(
    (label) => label.length <= MAX_LABEL && !/\p{C}/u.test(label),
    `Use up to ${MAX_LABEL} characters, without control characters.`,
  );

const termsField = z
  .unknown()
  .refine((value) => value === 'on' || value === 'true' || value === true, 'Accept the terms to get a key.');

export const signupForm = z.object({ email: emailField, label: labelField, terms: termsField });
export const linkForm = z.object({ email: emailField });
export const revokeForm = z.object({ token: field, key: field });
export const rotateForm = z.object({
  token: field,
  key: field,
  overlap: field.pipe(z.string().regex(/^[0-7]$/, 'Choose 0 to 7 days.')).transform(Number),
});

/** The first problem of each field. */
export type FieldErrors = Partial<Record<string, string>>;

export function fieldErrors(error: z.ZodError): FieldErrors {
  const errors: FieldErrors = {};
  for (const { path, message } of error.issues) errors[String(path[0])] ??= message;
  return errors;
}

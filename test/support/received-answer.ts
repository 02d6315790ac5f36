import type { ReceivedAnswer } from '#src/efa/ask.ts';
import { type PayloadOf, type Question, readAnswer } from '#src/efa/question.ts';

/** An answer as the client hands it over, without a network. */
export function receivedAnswer<Asked extends Question>(
  question: Asked,
  answer: object,
  retrievedAt: Date,
): ReceivedAnswer<PayloadOf<Asked>> {
  return { payload: readAnswer(question, answer), json: Buffer.from(JSON.stringify(answer)), retrievedAt };
}

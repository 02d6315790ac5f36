import type { ReceivedAnswer } from '#src/efa/ask.ts';
import { type PayloadOf, payloadSchemaOf, type Question } from '#src/efa/question.ts';

/** An answer as the client hands it over, without a network. */
export function receivedAnswer<Asked extends Question>(
  question: Asked,
  answer: object,
  retrievedAt: Date,
): ReceivedAnswer<PayloadOf<Asked>> {
  return { payload: payloadSchemaOf(question).parse(answer), json: Buffer.from(JSON.stringify(answer)), retrievedAt };
}

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished, vi } from 'vitest';
import * as z from 'zod';

/** Maximum bytes of a message (limits of Teams). */
const longestMessage = 28 * 1024;

const ownText = z.strictObject({
  type: z.literal('TextBlock'),
  text: z.string(),
  wrap: z.boolean().optional(),
  weight: z.enum(['Default', 'Lighter', 'Bolder']).optional(),
  size: z.enum(['Default', 'Small', 'Medium', 'Large', 'ExtraLarge']).optional(),
});

const foreignText = z.strictObject({
  type: z.literal('RichTextBlock'),
  spacing: z.enum(['None', 'Small', 'Default']).optional(),
  inlines: z
    .array(
      z.strictObject({
        type: z.literal('TextRun'),
        text: z.string(),
        fontType: z.enum(['Default', 'Monospace']).optional(),
      }),
    )
    .min(1),
});

const mention = z.strictObject({
  type: z.literal('mention'),
  text: z.string().regex(/^<at>[^<>]+<\/at>$/),
  mentioned: z.strictObject({ id: z.string().min(1), name: z.string().min(1) }),
});

/** A part of the schema of adaptive cards 1.4, without buttons that post anything. */
const card = z.strictObject({
  $schema: z.literal('http://adaptivecards.io/schemas/adaptive-card.json'),
  type: z.literal('AdaptiveCard'),
  version: z.literal('1.4'),
  body: z.array(z.discriminatedUnion('type', [ownText, foreignText])).min(1),
  actions: z.array(
    z.strictObject({ type: z.literal('Action.OpenUrl'), title: z.string(), url: z.url() }),
  ),
  msteams: z.strictObject({ width: z.literal('Full'), entities: z.array(mention) }),
});

/** A message that a webhook of Teams accepts. */
export const teamsSchema = z.strictObject({
  type: z.literal('message'),
  attachments: z.tuple([
    z.strictObject({
      contentType: z.literal('application/vnd.microsoft.card.adaptive'),
      contentUrl: z.null(),
      content: card,
    }),
  ]),
});

export type TeamsCard = z.output<typeof card>;

/** How a webhook answers one request: with a status, or by breaking the connection. */
export type TeamsAnswer = { status: number; retryAfter?: number } | 'reset';

/** A webhook of Teams on 127.0.0.1, as a workflow offers it. Its URL holds secrets, each with `canary` in it. */
export class FakeTeams {
  readonly cards: TeamsCard[] = [];
  /** Status of every answer so far. */
  readonly answered: (number | 'reset')[] = [];
  /** The answers to the next requests; later ones are checked. */
  readonly answers: TeamsAnswer[] = [];
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const answer = this.answers.shift() ?? this.#answerTo(request.url, Buffer.concat(chunks));
        this.answered.push(answer === 'reset' ? answer : answer.status);
        if (answer === 'reset') return void request.socket.destroy();
        const { status, retryAfter } = answer;
        const headers = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
        response.writeHead(status, headers).end();
      });
    });
  }

  /** Starts one that is closed after the test. */
  static async start(): Promise<FakeTeams> {
    const fake = new FakeTeams();
    fake.#server.listen(0, '127.0.0.1');
    await once(fake.#server, 'listening');
    onTestFinished(() => {
      fake.#server.close();
      fake.#server.closeAllConnections();
    });
    return fake;
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}/workflows/canary/invoke?sig=canary`;
  }

  /** Resolves with the cards once there are so many. */
  async posted(count: number): Promise<TeamsCard[]> {
    await vi.waitUntil(() => this.cards.length >= count, { timeout: 15_000, interval: 5 });
    return this.cards;
  }

  #answerTo(path: string | undefined, body: Buffer): { status: number; retryAfter?: number } {
    if (path !== '/workflows/canary/invoke?sig=canary') return { status: 401 };
    if (body.byteLength > longestMessage) return { status: 413 };
    const message = teamsSchema.safeParse(JSON.parse(body.toString()));
    if (!message.success) return { status: 400 };
    this.cards.push(message.data.attachments[0].content);
    return { status: 202 };
  }
}

/** Returns the lines of a card, without its buttons. */
export function linesOf({ body }: TeamsCard): string[] {
  return body.map((block) =>
    block.type === 'TextBlock' ? block.text : block.inlines.map(({ text }) => text).join(''),
  );
}

// What is read of others, each by a name under which the fuzzer asks for it: it is given bytes and must neither throw what
// nobody wrote down nor take long.
import { createHash } from 'node:crypto';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { CompactSign, createLocalJWKSet, exportJWK, generateKeyPair } from 'jose';
import { readCallerIdentity } from '../../src/actors/access/auth/caller-identity.ts';
import { readSignedUrl } from '../../src/actors/access/auth/signed-url.ts';
import { issuerOf, verifyJwt } from '../../src/actors/access/auth/verify-jwt.ts';
import { readInteraction } from '../../src/actors/channels/slack/decisions/read-interaction.ts';
import { readFrame } from '../../src/actors/channels/slack/link/slack-frame.ts';
import { readMarkup } from '../../src/actors/channels/slack/messages/read-markup.ts';
import { slackMarkdown } from '../../src/actors/channels/slack/messages/slack-markdown.ts';
import { readMessageEvent } from '../../src/actors/channels/slack/talk/message-event.ts';
import { readUpdates } from '../../src/actors/channels/telegram/telegram-update.ts';
import { parseConfig } from '../../src/actors/config/parse-config.ts';
import { readGuardrailPattern } from '../../src/actors/governance/guardrails/guardrail-pattern.ts';
import { readArgumentPath } from '../../src/actors/governance/modify/argument-path.ts';
import { readModifyPattern } from '../../src/actors/governance/modify/modify-pattern.ts';
import { readNetwork } from '../../src/actors/outbound/egress/address-rules.ts';
import { normaliseHost, readHostEntry } from '../../src/actors/outbound/egress/host-pattern.ts';
import { verifyChain } from '../../src/actors/records/log/verify-chain.ts';
import { parseCsv } from '../../src/actors/tools/builtin/parse-csv.ts';
import { readOffer } from '../../src/actors/tools/mcp/read-offer.ts';
import { parseFrontmatter } from '../../src/actors/tools/skills/frontmatter.ts';
import { parseInputBlock } from '../../src/actors/tools/skills/input-block.ts';
import { parseInputLine } from '../../src/actors/tools/skills/input-line.ts';
import { parseMarkdown } from '../../src/actors/tools/skills/parse-markdown.ts';
import { readSkillText } from '../../src/actors/tools/skills/skill-text.ts';
import { readArchive } from '../../src/actors/workspace/read-archive.ts';
import { readTaskStream } from '../../src/cli/task/read-task-stream.ts';
import { readDecision } from '../../src/http/wire/decision.ts';
import { readRpcRequest } from '../../src/http/wire/json-rpc.ts';
import { readSubmission } from '../../src/http/wire/task-request.ts';
import { readAnswer as readAdmission } from '../../src/machines/admission/admission-answer.ts';
import { checkCard } from '../../src/machines/card/check-card.ts';
import { parseDuration } from '../../src/machines/duration.ts';
import { isJsonObject, type JsonValue } from '../../src/machines/json.ts';
import { moveForge } from '../../src/machines/moving/move-forge.ts';
import { moveServers } from '../../src/machines/moving/move-servers.ts';
import { readAnswer as readDraft } from '../../src/machines/skill-builder/read-answer.ts';
import { readTraceParent } from '../../src/machines/trace-parent.ts';
import type { Target } from './fuzz-target.ts';
import { seeds } from './seeds.ts';
import { takeRequest } from './take-request.ts';

/** What a reader throws when nobody has thought of what it was given. */
const slips = [TypeError, RangeError, ReferenceError, SyntaxError];

/** Makes a target of a reader of strings; an error message that it throws for the author of the string is a valid result. */
function reading(read: (text: string) => unknown): Target['take'] {
  return readingBytes((bytes) => read(bytes.toString('utf8')));
}

function readingBytes(read: (bytes: Buffer) => unknown): Target['take'] {
  return async (bytes) => {
    try {
      await read(bytes);
    } catch (error) {
      if (!(error instanceof Error) || error.message === '') throw error;
      if (slips.some((slip) => error.constructor === slip)) throw error;
    }
  };
}

/** Makes a target of what reads a value that came as JSON; what is no JSON was refused before. */
function readingJson(read: (value: unknown) => unknown): Target['take'] {
  return reading((text) => {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return undefined;
    }
    return read(value);
  });
}

const sha256Hex = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

const { privateKey, publicKey } = await generateKeyPair('ES256');
const keys = createLocalJWKSet({ keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256' }] });
const rules = {
  ...{ name: 'fuzz', keys: { find: keys } as never, algorithms: ['ES256'] },
  ...{ issuer: 'https://issuer.example', audience: 'agent', skew: 60_000, longest: 3_600_000 },
  read: (claims: object) =>
    ({ kind: 'rejected', reason: 'invalid', message: Object.keys(claims).join() }) as const,
};
const self = { botUserId: 'U0', botId: 'B0', appId: 'A0', teamId: 'T0' } as never;

export const targets: Readonly<Record<string, Target>> = {
  http: { seeds: seeds.http, take: takeRequest },
  config: {
    seeds: seeds.config,
    take: reading((text) => parseConfig(text, { file: 'service.yaml', env: { A: 'b' } })),
  },
  frontmatter: { seeds: seeds.frontmatter, take: reading((text) => parseFrontmatter(text)) },
  markdown: { seeds: seeds.markdown, take: reading((text) => parseMarkdown(text)) },
  inputLine: { seeds: seeds.inputLine, take: reading((text) => parseInputLine(text)) },
  inputBlock: {
    seeds: seeds.inputBlock,
    take: reading((text) => parseInputBlock(text.split('\n'))),
  },
  skillText: {
    seeds: seeds.skillText,
    take: reading((text) => readSkillText('SKILL.md', parseFrontmatter(text))),
  },
  forge: {
    seeds: seeds.forge,
    take: readingJson((value) =>
      isJsonObject(value)
        ? moveForge(value, { builtinTools: ['json_query'], without: ['model'] })
        : undefined,
    ),
  },
  servers: {
    seeds: seeds.servers,
    take: readingJson((value) =>
      isJsonObject(value)
        ? moveServers(value, { workspace: '/w', home: '/h', isSet: () => false, without: [] })
        : undefined,
    ),
  },
  archive: { seeds: seeds.archive, take: readingBytes((bytes) => readArchive(bytes)) },
  admission: { seeds: seeds.admission, take: reading((text) => readAdmission(text)) },
  token: {
    seeds: seeds.token,
    take: reading(async (text) => {
      issuerOf(text);
      await verifyJwt(text, rules);
    }),
  },
  claims: {
    seeds: seeds.claims,
    take: reading(async (text) => {
      const signer = new CompactSign(Buffer.from(text)).setProtectedHeader({ alg: 'ES256' });
      await verifyJwt(await signer.sign(privateKey), rules);
    }),
  },
  signedUrl: {
    seeds: seeds.signedUrl,
    take: reading((text) =>
      readSignedUrl(
        `k8s-aws-v1.${Buffer.from(text).toString('base64url')}`,
        { region: 'eu-west-1', audience: null, longest: 900_000, otherOrigin: null },
        Date.parse('2026-01-01'),
      ),
    ),
  },
  callerIdentity: {
    seeds: seeds.callerIdentity,
    take: reading((text) => readCallerIdentity(text)),
  },
  slackFrame: { seeds: seeds.slackFrame, take: reading((text) => readFrame(text)) },
  slackInteraction: {
    seeds: seeds.slackInteraction,
    take: readingJson((value) => readInteraction(value)),
  },
  slackMessage: {
    seeds: seeds.slackMessage,
    take: readingJson((value) => readMessageEvent(value, self)),
  },
  slackMarkup: {
    seeds: seeds.slackMarkup,
    take: reading((text) =>
      readMarkup(text, { botUserId: 'U0', nameOf: (id: string) => Promise.resolve(id) }),
    ),
  },
  slackText: { seeds: seeds.slackText, take: reading((text) => slackMarkdown(text)) },
  telegram: { seeds: seeds.telegram, take: readingJson((value) => readUpdates(value)) },
  rpc: { seeds: seeds.rpc, take: readingJson((value) => readRpcRequest(value)) },
  submission: {
    seeds: seeds.submission,
    take: readingJson((value) => readSubmission(value, () => 'id')),
  },
  decision: { seeds: seeds.decision, take: readingJson((value) => readDecision(value, null, 0)) },
  mcpOffer: {
    seeds: seeds.mcpOffer,
    take: readingJson((value) => readOffer('server', Array.isArray(value) ? value : [value])),
  },
  draft: { seeds: seeds.draft, take: reading((text) => readDraft(text)) },
  card: { seeds: seeds.card, take: readingJson((value) => checkCard(value as JsonValue)) },
  auditLog: {
    seeds: seeds.auditLog,
    take: reading((text) =>
      verifyChain([{ name: 'audit.ndjson', chunks: piecesOf(text) }], sha256Hex),
    ),
  },
  events: { seeds: seeds.events, take: reading((text) => readTaskStream(messagesIn(text), {})) },
  hosts: {
    seeds: seeds.hosts,
    take: reading((text) => [normaliseHost(text), readHostEntry(text), readNetwork(text)]),
  },
  patterns: {
    seeds: seeds.patterns,
    take: reading((text) => [
      readGuardrailPattern(text),
      readModifyPattern(text),
      readArgumentPath(text),
    ]),
  },
  csv: {
    seeds: seeds.csv,
    take: reading((text) =>
      parseCsv({ csv: text, delimiter: ',', header: true, offset: 0, limit: 100 }),
    ),
  },
  duration: {
    seeds: seeds.duration,
    take: reading((text) => {
      try {
        parseDuration(text);
      } catch (error) {
        // It is what this one throws.
        if (!(error instanceof RangeError && /\bduration\b/.test(error.message))) throw error;
      }
    }),
  },
  traceParent: {
    seeds: seeds.traceParent,
    take: reading((text) => readTraceParent(text)),
  },
};

async function* piecesOf(text: string): AsyncGenerator<string> {
  yield text;
}

async function* messagesIn(text: string): AsyncGenerator<EventSourceMessage> {
  const messages: EventSourceMessage[] = [];
  createParser({ onEvent: (message) => void messages.push(message) }).feed(text);
  yield* messages;
}

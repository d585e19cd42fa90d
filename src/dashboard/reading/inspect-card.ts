import { hash } from 'node:crypto';
import type {
  CardInspectionJson,
  CardJson,
  ExchangeJson,
} from '../../http/wire/dashboard/a2a-json.ts';
import { cardForm, checkCard, schemesOf } from '../../machines/card/check-card.ts';
import { parseJson } from '../../machines/json.ts';
import { AskError, type AskedAgent, askAgent, targetOf } from './ask-agent.ts';

const cardPath = '/.well-known/agent-card.json';
const legacyPath = '/.well-known/agent.json';

/** Timeout for one card in milliseconds. */
const patience = 15_000;

/** Maximum number of characters shown from a body. */
const longestShown = 128 * 1024;

/** Fetches an agent's card in every format and at the legacy path, and checks the responses. */
export async function inspectCard(
  agent: AskedAgent,
  signal: AbortSignal,
): Promise<CardInspectionJson> {
  const first = await cardOf(agent, '', signal);
  const cards = [first];
  for (const asked of ['0.3', '1.0']) {
    // After one request without a response, no further requests are sent.
    if (cards.at(-1)?.exchange.answer === null) break;
    cards.push(await cardOf(agent, asked, signal));
  }
  const legacy =
    first.exchange.answer === null
      ? { exchange: first.exchange, findings: [] }
      : await legacyOf(agent, first, signal);
  return { url: agent.url.href.replace(/\/$/, ''), cards, legacy };
}

async function cardOf(agent: AskedAgent, asked: string, signal: AbortSignal): Promise<CardJson> {
  const headers: Record<string, string> = asked === '' ? {} : { 'A2A-Version': asked };
  const { exchange, bytes } = await exchangeOf(agent, cardPath, headers, signal);
  return { asked, ...checked(exchange, bytes, asked), exchange };
}

async function legacyOf(
  agent: AskedAgent,
  card: CardJson,
  signal: AbortSignal,
): Promise<CardInspectionJson['legacy']> {
  const { exchange, bytes } = await exchangeOf(agent, legacyPath, {}, signal);
  const findings: CardJson['findings'] = [];
  const warn = (path: string, message: string) =>
    void findings.push({ severity: 'warning', path, message });
  const { answer } = exchange;
  if (answer === null || answer.status !== 200) return { exchange, findings };
  if ((answer.headers['deprecation'] ?? '') === '') {
    warn('Deprecation', 'is missing; the path of old should say that it is deprecated');
  }
  if (!(answer.headers['link'] ?? '').includes(cardPath)) {
    warn('Link', `should name ${cardPath}`);
  }
  if (card.card_sha256 !== null && hash('sha256', bytes) !== card.card_sha256) {
    warn('body', `is another than that of ${cardPath}`);
  }
  return { exchange, findings };
}

function checked(
  { answer }: ExchangeJson,
  bytes: Uint8Array,
  asked: string,
): Pick<CardJson, 'form' | 'card_sha256' | 'findings' | 'schemes'> {
  const none = { form: 'unknown', card_sha256: null, schemes: [] } as const;
  const wrong = (message: string) => ({
    ...none,
    schemes: [],
    findings: [{ severity: 'error' as const, path: '', message }],
  });
  if (answer === null) return { ...none, schemes: [], findings: [] };
  if (answer.status !== 200) return wrong(`is answered with status ${answer.status}`);
  const card = parseJson(Buffer.from(bytes).toString('utf8'));
  if (card === undefined) return wrong('is no JSON');
  const findings = [...checkCard(card)];
  const form = cardForm(card);
  if (!/^application\/(?:[\w.]+\+)?json\b/.test(answer.headers['content-type'] ?? '')) {
    findings.push({
      severity: 'warning',
      path: 'Content-Type',
      message: 'should be application/json',
    });
  }
  if (asked === '1.0' && form === '0.3') {
    const message = 'is a card of 0.3 although 1.0 was asked for';
    findings.push({ severity: 'warning', path: '', message });
  }
  return { form, card_sha256: hash('sha256', bytes), findings, schemes: schemesOf(card) };
}

async function exchangeOf(
  agent: AskedAgent,
  path: string,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<{ exchange: ExchangeJson; bytes: Uint8Array }> {
  const begun = performance.now();
  const sent = {
    method: 'GET',
    url: targetOf(agent.url, path).href,
    headers: masked(agent, headers),
  };
  const parts: Uint8Array[] = [];
  let answer: ExchangeJson['answer'] = null;
  try {
    const call = { method: 'GET', path, headers, body: null, signal, patience } as const;
    await askAgent(agent, call, async ({ status, headers: answered, body }) => {
      for await (const part of body) parts.push(part);
      answer = { status, headers: answered, body: '', ms: Math.round(performance.now() - begun) };
    });
  } catch (error) {
    if (!(error instanceof AskError)) throw error;
    const exchange = { ...sent, answer: null, problem: error.message };
    return { exchange, bytes: new Uint8Array() };
  }
  const bytes = Buffer.concat(parts);
  const told = answer as ExchangeJson['answer'];
  if (told !== null) told.body = bytes.toString('utf8').slice(0, longestShown);
  return { exchange: { ...sent, answer: told }, bytes };
}

function masked({ token }: AskedAgent, headers: Record<string, string>): Record<string, string> {
  return { ...headers, ...(token === null ? {} : { Authorization: 'Bearer $TOKEN' }) };
}

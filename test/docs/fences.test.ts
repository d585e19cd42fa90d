import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { Ajv } from 'ajv';
import { parse as parseToml } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  editorSchema,
  parseConfig,
  readDashboard,
  readPeople,
} from '../../src/actors/config/config.ts';
import { channelSchemas, configuredAdapters } from '../../src/actors/config/schema-channels.ts';
import { describeKeys, findKeysUnknownTo } from '../../src/actors/config/unknown-keys.ts';
import { anEmptyPolicy } from '../helpers/empty-policy.ts';
import { clone, type Fence, fencesOf, pages, readPage } from './fences.ts';

const env = {
  ACS_HMAC_SECRET: 'secret-of-the-clients-of-the-gate',
  ACS_LAPTOPS: 'secret-of-the-laptops-of-the-team',
  ACS_CI: 'secret-of-the-builds-of-the-team-',
  SERVICE_TOKEN: 'token-of-ops',
  SHOP_KEY: 'key-of-the-shop',
  SHOP_CLIENT_SECRET: 'secret-of-the-client',
  SERVICE_DATABASE_URL: 'postgres://agent@db.example.com/agents',
  OPS_WEBHOOK_SECRET: `whsec_${'a'.repeat(44)}`,
};

/** Returns whether a value fits the schema that editors have of a file. */
const fitsSchemaOf = (file: string, value: unknown): boolean =>
  new Ajv({ strict: true }).validate(editorSchema(file) as object, value);
const fitsSchema = new Ajv({ strict: true }).compile(editorSchema('service.yaml') as object);

const blocks = pages().flatMap((page) =>
  fencesOf(readPage(page)).map((fence) => [`${page}:${fence.line}`, fence] as const),
);

function inLanguage(language: string) {
  return blocks.filter(([, fence]) => fence.language === language);
}

describe('the YAML on the pages', () => {
  it.each(inLanguage('yaml'))('is valid: %s', (place, { text }) => {
    expect(faultsOf(text, place)).toEqual([]);
  });
});

/** What is wrong in a `service.yaml`, a part of one, or the file of a channel. */
function faultsOf(text: string, file: string): string[] {
  const value = parse(text) as Record<string, never>;
  if (Object.hasOwn(value, 'settings')) {
    const fits = configuredAdapters.filter((adapter) => {
      const unknown = findKeysUnknownTo(describeKeys(channelSchemas[adapter]), value);
      const fits = channelSchemas[adapter].safeParse(value).success;
      return unknown.length === 0 && fits && fitsSchemaOf(`${adapter}-config.yaml`, value);
    });
    return fits.length > 0 ? [] : ['no channel has these settings'];
  }
  if (Object.hasOwn(value, 'groups') || Object.hasOwn(value, 'oncall'))
    return faultsIn('people.yaml', text, readPeople);
  if (Object.hasOwn(value, 'sign_in')) return faultsIn('dashboard.yaml', text, readDashboard);
  const whole = Object.hasOwn(value, 'agent_id') ? text : `agent_id: example\n${text}`;
  const reading = parseConfig(whole, { file, env, readInclude: anEmptyPolicy });
  if (!fitsSchema(parse(whole))) return [`${file}: the JSON Schema refuses it`];
  const said = [...(reading.ok ? [] : reading.problems), ...reading.warnings];
  return said.filter(isFault).map(({ message }) => message);
}

/** What is wrong in a file of its own. */
function faultsIn(
  file: string,
  text: string,
  read: typeof readPeople | typeof readDashboard,
): string[] {
  if (!fitsSchemaOf(file, parse(text))) return [`${file}: the JSON Schema refuses it`];
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-fence-'));
  writeFileSync(join(folder, file), text);
  const problems = read(folder, {})?.problems ?? [];
  rmSync(folder, { recursive: true });
  return problems.filter(isFault).map(({ message }) => message);
}

/** A part omits what it needs to be valid, which is elsewhere on its page. */
function isFault({ message }: { message: string }): boolean {
  const elsewhere =
    /is not set; (?:it must hold|set it)|stores contents|lists no tools|without auth\.providers/;
  return !elsewhere.test(message);
}

describe('the JSON on the pages', () => {
  it.each(inLanguage('json'))('is valid: %s', (_, { text }) => {
    expect(() => JSON.parse(text) as unknown).not.toThrow();
  });

  it.each(inLanguage('ndjson'))('is valid line by line: %s', (_, { text }) => {
    for (const line of text.trim().split('\n'))
      expect(() => JSON.parse(line) as unknown).not.toThrow();
  });
});

describe('the TOML on the pages', () => {
  it.each(inLanguage('toml'))('is valid: %s', (_, { text }) => {
    expect(() => parseToml(text)).not.toThrow();
  });
});

describe('the links of the pages', () => {
  it.each(pages().map((page) => [page]))('lead to existing targets: %s', (page) => {
    const text = readPage(page).replaceAll(/^( *)(`{3,})[^]*?^\1\2[ \t]*$/gm, '');
    const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target ?? '');
    const broken = targets.filter(
      (target) => !/^(?:https?|mailto):/.test(target) && !leads(page, target),
    );
    expect(broken).toEqual([]);
  });
});

function leads(page: string, target: string): boolean {
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? page : normalize(join(dirname(page), path));
  const content = contentOf(file);
  if (content === null || anchor === undefined) return content !== null;
  return anchorsOf(content).includes(anchor);
}

/** The text of a file; of a folder nothing. */
function contentOf(file: string): string | null {
  try {
    return readFileSync(join(clone, file), 'utf8');
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EISDIR' ? '' : null;
  }
}

/** The names that headings are linked by. */
function anchorsOf(markdown: string): string[] {
  const text = markdown.replaceAll(/^( *)(`{3,})[^]*?^\1\2[ \t]*$/gm, '');
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe('every block', () => {
  it('has a checked language, or is listed as unchecked', () => {
    const looked = ['yaml', 'json', 'ndjson', 'sh', 'toml'];
    const shown = ['', 'text', 'js', 'ts', 'python', 'markdown', 'ini'];
    const isKnown = ({ language }: Fence) => [...looked, ...shown].includes(language);
    expect(blocks.filter(([, fence]) => !isKnown(fence)).map(([place]) => place)).toEqual([]);
  });
});

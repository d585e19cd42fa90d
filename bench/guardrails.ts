import {
  compileGuardrails,
  type GuardrailRules,
  type Guardrails,
} from '../src/actors/governance/guardrails/guardrails.ts';
import type { Figure } from './figure.ts';

const none: GuardrailRules = {
  deny_commands: [],
  deny_prompts: [],
  deny_output: [],
  denied_tools: [],
  redact: [],
};

const textLength = 16_384;

/** What compiling 10,000 patterns and matching them against 16 KiB costs the event loop. */
export function guardrailFigures(): Promise<Figure[]> {
  const written = Array.from({ length: 10_000 }, (_, index) => somePattern(index));
  const compile = medianTime(3, () => guardrailsFor(written, 'block'));
  const block = guardrailsFor(written, 'block');
  const redact = guardrailsFor(written, 'redact');
  const prose = textOf(() => '');
  const marked = textOf((place) => (place % 25 === 0 ? `${wordFor(place * 4 + 3)} ` : ''));
  const near = textOf((place) => `${wordFor(place * 4).slice(0, -1)} ignore `);
  const classes = guardrailsFor(
    Array.from(
      { length: 10_000 },
      (_, index) => `[a-z]{${3 + (index % 5)}}[0-9]{2}[A-${letterOf(index)}]{2}`,
    ),
    'block',
  );
  const builtIn = guardrailsOf({ ...none, redact: ['secrets', 'pii'] });
  const adversarial = ['(a+)+$', '(x+x+)+y', '(a|b)*a(a|b){20}c', '(?:a?){500}a{500}b'];
  const repeated = ['a', 'x', 'ab'].map((unit) => unit.repeat(textLength / unit.length));
  const slow = guardrailsFor(adversarial, 'block');
  return Promise.resolve([
    figure('compile 10,000 patterns', compile, ''),
    figure('10,000 patterns against 16 KiB without a match', checking(block, [prose]), '50 ms'),
    figure('10,000 patterns against 16 KiB of near misses', checking(block, [near]), '50 ms'),
    figure('10,000 patterns that redact, 16 KiB, several matches', checking(redact, [marked]), ''),
    figure('10,000 patterns without a literal, 16 KiB', checking(classes, [prose]), ''),
    figure('all built-in redaction rules, 16 KiB', checking(builtIn, [prose]), ''),
    figure(
      '4 patterns made to back up, 3 texts of 16 KiB',
      checking(
        slow,
        repeated.map((text) => `${text}!`),
      ),
      '',
    ),
  ]);
}

function figure(what: string, milliseconds: number, aim: string): Figure {
  return { what: `guardrails: ${what}`, measured: `${milliseconds.toFixed(1)} ms`, aim };
}

function guardrailsFor(patterns: string[], action: 'block' | 'redact'): Guardrails {
  return guardrailsOf({ ...none, deny_output: patterns.map((pattern) => ({ pattern, action })) });
}

function guardrailsOf(rules: GuardrailRules): Guardrails {
  const compiled = compileGuardrails(rules);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  return compiled.guardrails;
}

function checking(guardrails: Guardrails, texts: string[]): number {
  const check = () => texts.map((text) => guardrails.checkOutput(text));
  check();
  return medianTime(9, check);
}

function medianTime(rounds: number, run: () => unknown): number {
  const times = Array.from({ length: rounds }, () => {
    const started = performance.now();
    run();
    return performance.now() - started;
  });
  return times.sort((one, other) => one - other)[Math.floor(rounds / 2)] ?? 0;
}

/** One of four shapes that rules have, around a word of its own. */
function somePattern(index: number): string {
  const word = wordFor(index);
  const shapes = [
    `${word}\\s+-rf`,
    `(?i)ignore\\s+${word}`,
    `${word}(foo|bar)[0-9]+`,
    `\\b${word}\\b`,
  ];
  return shapes[index % shapes.length] ?? word;
}

function wordFor(index: number): string {
  return `word${((index * 7_919) % 100_003).toString(36)}`;
}

function letterOf(index: number): string {
  return String.fromCharCode(66 + (index % 25));
}

/** Prose with numbers in it, the same in every run. */
function textOf(extra: (place: number) => string): string {
  const words = 'the quick brown fox 12 jumps over 345 lazy dogs in 2026 and abc99z then'.split(
    ' ',
  );
  let text = '';
  for (let place = 0, state = 1; text.length < textLength; place += 1) {
    state = (state * 48_271) % 2_147_483_647;
    text += `${extra(place)}${words[state % words.length] ?? ''} `;
  }
  return text.slice(0, textLength);
}

import { claudeCode } from './claude-code.ts';
import { codex } from './codex.ts';
import { copilot } from './copilot.ts';
import { cursor } from './cursor.ts';
import type { Dialect } from './hook-event.ts';
import { opencode } from './opencode.ts';

/** The coding agents whose hooks a gate answers, by the name in commands and routes. */
export const dialects: ReadonlyMap<string, Dialect> = new Map([
  ['claude-code', claudeCode],
  ['codex', codex],
  ['cursor', cursor],
  ['copilot', copilot],
  ['opencode', opencode],
]);

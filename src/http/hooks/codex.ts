import type { JsonObject } from '../../machines/json.ts';
import { claudeCode } from './claude-code.ts';
import type { Dialect } from './hook-event.ts';

/**
 * The hooks of Codex (https://developers.openai.com/codex/hooks and codex-rs/hooks/src/events/pre_tool_use.rs). They
 * have the form of Claude Code, except that `allow` without changed arguments counts as a failure of the hook: silence
 * with exit code 0 is the permission.
 */
export const codex: Dialect = {
  ...claudeCode,
  allow: (changed: JsonObject | null) => (changed === null ? null : claudeCode.allow(changed)),
};

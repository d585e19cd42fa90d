import type { Question } from '../../machines/wizard/agent-answers.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { plainLine } from '../plain-text.ts';

/** The flags of each step. If a step has several, flags whose pattern matches the error message come first. */
const flags: Record<Question, readonly [flag: string, about: RegExp | null][]> = {
  name: [['the name, such as in init refund-desk', null]],
  provider: [['--provider', null]],
  model: [
    ['--base-url', /address/],
    ['--organization-id', /organisation/],
    ['--model', null],
  ],
  channels: [
    ['--channels', /is not a channel/],
    ['--channel-setting', /missing|such as/],
    ['--channels', null],
  ],
  tools: [
    ['--commands', /programs|shell/],
    ['--search', /search service/],
    ['--tools', null],
  ],
  skills: [['--skills', null]],
  fallback: [['--fallback', null]],
  auth: [
    ['--auth-setting', /missing|such as/],
    ['--auth', null],
  ],
  egress: [
    ['--egress', /mode/],
    ['--allow', null],
  ],
  security: [
    ['the passphrase in SERVICE_PASSPHRASE', /passphrase/],
    ['--variables', null],
  ],
  approvals: [
    ['--held', /is not a tool/],
    ['--timeout', /duration|timeout/],
    ['--quorum', /quorum/],
    ['--approvers', /emails/],
    ['--to', null],
  ],
};

/** Builds the error for an invalid step and names its flag. */
export function wrongStep(step: Question, complaint: string): CliError {
  const [flag] = flags[step].find(([, about]) => about === null || about.test(complaint)) ?? [''];
  return new CliError(plainLine(complaint), {
    code: 'usage',
    exitCode: exitCodes.usage,
    hint: `give ${flag}`,
  });
}

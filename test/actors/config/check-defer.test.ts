import { describe, expect, it } from 'vitest';
import { linesOf, read } from './reading.ts';

const auth = 'auth: {providers: [{type: static_token, settings: {token_env: T}}]}\n';
const root = 'security.defer';

/** Reads a file whose `security.defer` holds these lines from line 4 on, without authentication. */
function deferring(lines: string, before = '\n'): string[] {
  const indented = lines.replaceAll('\n', '\n    ');
  const text = `agent_id: x\n${before}security:\n  defer:\n    ${indented}\n`;
  return linesOf(read(text, { T: 't' })).map((line) => line.replaceAll(root, '~'));
}

const direct =
  'so no approver is notified; the deferral holds until a direct POST to the decisions endpoint';

it.each([
  [
    'enabled without tools',
    'enabled: true',
    'error 5:5 ~.tools | defer is enabled and lists no tools; add them under tools, or set enabled: false',
  ],
  [
    'enabled with an empty map',
    'enabled: true\ntools: {}',
    'error 6:12 ~.tools | defer is enabled and lists no tools; add them under tools, or set enabled: false',
  ],
  [
    'a timeout without a unit',
    'enabled: true\ntools: {t: {timeout: "5", to: "channel:console:*"}}',
    'error 6:26 ~.tools.t.timeout | ~.tools.t.timeout: a duration needs a unit; write 5s, 5m or 5h',
  ],
  [
    'a number for a timeout',
    'enabled: true\ntools: {t: {timeout: 5, to: "channel:console:*"}}',
    'error 6:26 ~.tools.t.timeout | ~.tools.t.timeout: this is not a duration; write 90s, 5m or 1h30m',
  ],
  [
    'a negative timeout',
    'enabled: true\ntools: {t: {timeout: -5m, to: "channel:console:*"}}',
    'error 6:26 ~.tools.t.timeout | ~.tools.t.timeout: a duration must not be negative; write 90s, 5m or 1h30m',
  ],
  [
    'a timeout of zero',
    'enabled: true\ntools: {t: {timeout: 0s, to: "channel:console:*"}}',
    'error 6:26 ~.tools.t.timeout | ~.tools.t.timeout: the duration must be above zero; write 90s, 5m or 1h30m',
  ],
  [
    'a timeout above 24 days',
    'enabled: true\ntools: {t: {timeout: 577h, to: "channel:console:*"}}',
    'error 6:26 ~.tools.t.timeout | ~.tools.t.timeout: a duration must be at most 24 days (576h)',
  ],
  [
    'a bad default timeout',
    'enabled: true\ndefault_timeout: soon\ntools: {t: {to: "channel:console:*"}}',
    'error 6:22 ~.default_timeout | ~.default_timeout: this is not a duration; write 90s, 5m or 1h30m',
  ],
  [
    'a malformed target',
    'enabled: true\ntools: {t: {to: slack}}',
    'error 6:21 ~.tools.t.to | ~.tools.t.to: the target must be channel:<adapter>:<target>, such as channel:console:*',
  ],
  [
    'a target without a name',
    'enabled: true\ntools: {t: {to: "channel:slack:"}}',
    'error 6:21 ~.tools.t.to | ~.tools.t.to: the target must be channel:<adapter>:<target>, such as channel:console:*',
  ],
  [
    'a target without an adapter',
    'enabled: true\ntools: {t: {to: "channel::x"}}',
    'error 6:21 ~.tools.t.to | ~.tools.t.to: the target must be channel:<adapter>:<target>, such as channel:console:*',
  ],
  [
    'telegram',
    'enabled: true\ntools: {t: {to: "channel:telegram:x", timeout: 5m}}',
    'error 6:21 ~.tools.t.to | channel:telegram:x is no Telegram chat; write the id of the chat, such as -1001234567890',
  ],
  [
    'an unknown adapter',
    'enabled: true\ntools: {t: {to: "channel:pigeon:x"}}',
    `warning 6:21 ~.tools.t.to | the adapter of channel:pigeon:x is not one of console, dashboard, slack, telegram, webhook, email, teams, ${direct}`,
  ],
  [
    'an adapter that is off',
    'enabled: true\ntools: {t: {to: "channel:webhook:x", timeout: 5m}}',
    `warning 6:21 ~.tools.t.to | the webhook adapter is not in channels, ${direct}`,
  ],
  [
    'a tool without a target',
    'enabled: true\ntools: {t: {timeout: 5m}}',
    'error 6:16 ~.tools.t.to | ~.tools.t.to: this key is missing, so no approver would be notified; write to: "channel:console:*", or another target',
  ],
  [
    'a list without targets',
    'enabled: true\ntools: {t: {to: []}}',
    'error 6:21 ~.tools.t.to | ~.tools.t.to: the list names no target; add one',
  ],
  [
    'an invalid target in a list',
    'enabled: true\ntools: {t: {to: ["channel:console:*", slack]}}',
    'error 6:43 ~.tools.t.to.1 | ~.tools.t.to.1: the target must be channel:<adapter>:<target>, such as channel:console:*',
  ],
  [
    'a target without decisions in a list',
    'enabled: true\ntools: {t: {to: ["channel:console:*", "channel:telegram:x"], timeout: 5m}}',
    'error 6:43 ~.tools.t.to.1 | channel:telegram:x is no Telegram chat; write the id of the chat, such as -1001234567890',
  ],
  [
    'a target of another kind',
    'enabled: true\ntools: {t: {to: 5}}',
    'error 6:21 ~.tools.t.to | ~.tools.t.to: this must be a target such as channel:console:*, or a list of targets',
  ],
  [
    'an unknown placeholder',
    'enabled: true\ntools: {t: {to: "channel:console:*", context_template: "{tool} pays {amount}: {args}"}}',
    'error 6:60 ~.tools.t.context_template | the placeholder {amount} is unknown; there are {tool}, {args} and {args.NAME} alone',
  ],
  [
    'a placeholder with blanks, which is kept as text',
    'enabled: true\ntools: {t: {to: "channel:console:*", context_template: "{ arg }"}}',
    'error 6:60 ~.tools.t.context_template | the placeholder { arg } is unknown; did you mean {args}?',
  ],
  [
    'an argument of a list without its prefix',
    'enabled: true\ntools: {t: {to: "channel:console:*", display: [amount]}}',
    'error 6:52 ~.tools.t.display.0 | ~.tools.t.display.0: this must be args.NAME, such as args.amount',
  ],
  [
    'two rules for one tool',
    'enabled: true\ntools: {pay_x: {to: "channel:console:*"}, pay-x: {to: "channel:console:*"}}',
    'error 6:54 ~.tools.pay-x | pay-x and pay_x are one tool, as - and _ are one in its name; keep one of the two rules',
  ],
  [
    'a quorum of zero',
    'enabled: true\ntools: {t: {quorum: 0, to: "channel:console:*"}}',
    'error 6:25 ~.tools.t.quorum | ~.tools.t.quorum: this must be at least 1',
  ],
  [
    'a fractional quorum',
    'enabled: true\ntools: {t: {quorum: 1.5, to: "channel:console:*"}}',
    'error 6:25 ~.tools.t.quorum | ~.tools.t.quorum: this must be a whole number',
  ],
  [
    'four eyes without providers',
    'enabled: true\ntools: {t: {four_eyes: true, to: "channel:console:*"}}',
    'warning 6:28 ~.tools.t.four_eyes | four_eyes cannot identify the requester without auth.providers; add one',
  ],
  [
    'bound approvers without providers',
    'enabled: true\nbind_approver: true\ntools: {t: {to: "channel:console:*"}}',
    'warning 6:20 ~.bind_approver | without auth.providers and without Slack nobody has a verified email, so nobody can ever decide; add a provider',
  ],
  [
    'a default list without providers',
    'enabled: true\ndefault_approvers: [a@b.cd]\ntools: {t: {to: "channel:console:*"}}',
    'warning 6:24 ~.default_approvers | without auth.providers any caller can claim to be one of these approvers; add a provider',
  ],
  [
    'a list without providers',
    'enabled: true\ntools: {t: {approvers: [a@b.cd], to: "channel:console:*"}}',
    'warning 6:28 ~.tools.t.approvers | without auth.providers any caller can claim to be one of these approvers; add a provider',
  ],
  [
    'a passkey without the approvals page',
    'enabled: true\ntools: {t: {require_passkey: true, to: "channel:console:*"}}',
    'error 6:34 ~.tools.t.require_passkey | a passkey is used on the approvals page, so nobody could approve; configure approvals, or remove it',
  ],
  [
    'tools without enabled',
    'tools: {t: {to: "channel:console:*"}}',
    'warning 5:5 ~.enabled | ~.enabled is missing, so its tools are not guarded; add enabled: true, or false if that is meant',
  ],
])('the defer section has a finding for %s', (_, lines, line) => {
  expect(deferring(lines)).toEqual([line]);
});

describe('the defer section with authentication', () => {
  it('has a finding for four eyes with requests over Telegram', () => {
    const before = `channels: [telegram]\n${auth}`;
    const lines =
      'enabled: true\nbind_approver: true\ntools: {t: {four_eyes: true, approvers: [a@b.cd], to: "channel:console:*"}}';
    expect(deferring(lines, before)).toEqual([
      'warning 8:28 ~.tools.t.four_eyes | four_eyes identifies requesters in Telegram only if telegram-config.yaml lists them under people; list every approver who sends requests there',
    ]);
  });

  it.each([
    'enabled: true\nbind_approver: true\ntools: {t: {to: "channel:dashboard:ops", timeout: 1h, approvers: [a@b.cd], four_eyes: true}}',
    'enabled: true\nbind_approver: true\ndefault_approvers: [a@b.cd, e@f.gh]\ntools: {t: {quorum: 2, to: "channel:console:*"}}',
    'enabled: true\ntools: {t: {approvers: [a@b.cd, e@f.gh], to: "channel:console:*"}}',
  ])('accepts %j', (lines) => {
    expect(deferring(lines, auth)).toEqual([]);
  });

  it('warns of approvers that never match and of blank ones', () => {
    expect(
      deferring(
        'enabled: true\ntools: {t: {approvers: [ann, a@b.cd, " "], to: "channel:console:*"}}',
        auth,
      ),
    ).toEqual([
      'warning 6:29 ~.tools.t.approvers.0 | the approver ann is not an email, so it can never match and locks that person out; write name@example.com',
      'warning 6:42 ~.tools.t.approvers.2 | this approver is blank and is dropped; remove it',
    ]);
  });

  it.each(['"*@example.com"', '"ann@*.example.com"', '"@finance"'])(
    'refuses a list of only %s, which matches no person',
    (approver) => {
      const tools = `tools: {t: {approvers: [${approver}], to: "channel:console:*"}}`;
      expect(deferring(`enabled: true\n${tools}`, auth)).toEqual([
        'error 6:28 ~.tools.t.approvers | no one can ever decide, since no approver of this list is an email; write name@example.com',
        `warning 6:29 ~.tools.t.approvers.0 | the approver ${JSON.parse(approver)} is not an email, so it can never match and locks that person out; write name@example.com`,
      ]);
    },
  );

  it('warns of rules that distinguish people by unverified names', () => {
    const tools =
      'tools: {s: {approvers: [a@b.cd, e@f.gh], quorum: 2, to: "channel:console:*"}, t: {four_eyes: true, to: "channel:console:*"}, u: {to: "channel:console:*"}}';
    expect(deferring(`enabled: true\nbind_approver: false\n${tools}`, auth)).toEqual([
      'warning 5:5 ~.default_approvers | anyone who signs in may decide on t, u, because these rules list no approvers; list them here, or under approvers of each rule',
      'warning 6:20 ~.bind_approver | quorum and four_eyes (s, t) use the email that callers claim; set it to true to require the verified one',
    ]);
  });

  it.each([
    [
      'enabled: true\nbind_approver: true\ntools: {t: {quorum: 2, to: "channel:console:*"}}',
      '7:25',
    ],
    [
      'enabled: true\nbind_approver: true\ndefault_approvers: [" "]\ntools: {t: {quorum: 2, to: "channel:console:*"}}',
      '8:25',
    ],
  ])('refuses a quorum without a list: %j', (lines, place) => {
    expect(deferring(lines, auth)).toContain(
      `error ${place} ~.tools.t.quorum | a quorum requires a list of approvers; add at least 2`,
    );
  });

  it('refuses a quorum above the number of different, valid approvers', () => {
    const lines =
      'enabled: true\ntools: {t: {approvers: [a@b.cd, " A@B.CD", ann], quorum: 2, to: "channel:console:*"}}';
    expect(deferring(lines, auth)).toContain(
      'error 6:62 ~.tools.t.quorum | the quorum can never be met: 2 approvals are needed and 1 may approve; lower it or add approvers',
    );
  });

  it.each([
    [
      'default_approvers',
      'default_approvers: ["${BOSS}"]\ntools: {t: {to: "channel:console:*"}}',
      '6:24',
    ],
    [
      'tools.t.approvers',
      'tools: {t: {to: "channel:console:*", approvers: [" ", "${BOSS}"]}}',
      '6:53',
    ],
  ])('refuses a list from %s that becomes empty', (path, lines, position) => {
    const text = `agent_id: x\n${auth}security:\n  defer:\n    enabled: true\n    ${lines.replace('\n', '\n    ')}\n`;
    expect(linesOf(read(text, { BOSS: '', T: 'a-long-enough-token-of-ops' }))).toEqual([
      `error ${position} ${root}.${path} | every approver of this list is blank, so anyone could decide; add one, or omit the list`,
    ]);
    expect(
      linesOf(read(text, { BOSS: 'ann@example.com', T: 'a-long-enough-token-of-ops' })).join(),
    ).not.toContain('error');
  });

  it('takes an explicit empty list as none', () => {
    const lines =
      'enabled: true\ndefault_approvers: []\ntools: {t: {to: "channel:console:*", approvers: []}}';
    expect(deferring(lines, auth)).toEqual([
      'warning 6:24 ~.default_approvers | anyone who signs in may decide on t, because these rules list no approvers; list them here, or under approvers of each rule',
    ]);
  });

  it('refuses a default list that no one matches, where a tool uses it', () => {
    const own = 'approvers: [a@b.cd], ';
    const lines = (more: string) =>
      `enabled: true\ndefault_approvers: [ann]\ntools: {t: {${more}to: "channel:console:*"}}`;
    const warned =
      'warning 6:25 ~.default_approvers.0 | the approver ann is not an email, so it can never match and locks that person out; write name@example.com';
    expect(deferring(lines(''), auth)).toEqual([
      'error 6:24 ~.default_approvers | no one can ever decide, since no approver of this list is an email; write name@example.com',
      warned,
    ]);
    expect(deferring(lines(own), auth)).toEqual([warned]);
  });
});

describe('a chat channel as a target', () => {
  const window = (timeout: string, remedy: string) =>
    `${timeout} is longer than the 6m0s that a channel waits for an answer; ${remedy}`;

  it.each([
    ['timeout: 6m', []],
    [
      'timeout: 6m1s',
      [`warning 6:52 ~.tools.t.timeout | ${window('the timeout of 6m1s', 'shorten it')}`],
    ],
    [
      'quorum: 1',
      [
        `warning 6:16 ~.tools.t.timeout | ${window('the default timeout of 10m0s', 'write timeout: 5m here, or a shorter default_timeout')}`,
      ],
    ],
  ])('has a limit of six minutes, for each adapter: %s', (entry, expected) => {
    for (const to of ['"channel:slack:#ops"', '"channel:webhook:at"', '["channel:webhook:o"]']) {
      const lines = `enabled: true\ntools: {t: {to: ${to}, ${entry}}}`;
      const found = deferring(lines, 'channels: [slack, webhook]\n').map((line) =>
        line.replace(' 6:53 ', ' 6:52 '),
      );
      expect(found.filter((line) => line.includes('.tools.'))).toEqual(expected);
    }
  });

  it.each(['#refunds', 'refunds', 'Refunds_2', 'zürich-büro', 'C0123456789'])(
    'may be named %s',
    (name) => {
      const lines = `enabled: true\ntools: {t: {to: "channel:slack:${name}", timeout: 5m}}`;
      expect(deferring(lines, 'channels: [slack]\n')).toEqual([]);
    },
  );

  it.each(['*', '#', '##refunds', 'the refunds', '@ann', 'a:b'])('may not be named %s', (name) => {
    const lines = `enabled: true\ntools: {t: {to: "channel:slack:${name}", timeout: 5m}}`;
    expect(deferring(lines, 'channels: [slack]\n')).toEqual([
      `warning 6:21 ~.tools.t.to | channel:slack:${name} is not a Slack channel, ${direct}; write a name such as #refunds, an id, or a person such as @ann@example.com`,
    ]);
  });

  it('is checked as an escalation target as well', () => {
    const rule = '{to: "channel:console:*", escalate_to: "channel:slack:*", timeout: 5m}';
    expect(
      deferring(`enabled: true\ntools: {t: ${rule}}`, 'channels: [slack]\n').filter((line) =>
        line.includes('Slack'),
      ),
    ).toEqual([
      `warning 6:55 ~.tools.t.escalate_to | channel:slack:* is not a Slack channel, ${direct}; write a name such as #refunds, an id, or a person such as @ann@example.com`,
    ]);
  });
});

describe('the defer section while it is off', () => {
  it('warns of an incomplete rule', () => {
    expect(deferring('tools: {t: {timeout: 5m}}')).toEqual([
      'warning 5:5 ~.enabled | ~.enabled is missing, so its tools are not guarded; add enabled: true, or false if that is meant',
    ]);
  });

  it('is checked only for its form', () => {
    const lines =
      'enabled: false\ndefault_timeout: soon\ndefault_approvers: [ann]\ntools: {t: {to: x, timeout: "5", quorum: 0, four_eyes: true}}';
    expect(deferring(lines)).toEqual([]);
  });

  it('still refuses an unknown key and a value of another type', () => {
    expect(deferring('enabled: false\ntools: {t: {four_eyes: 3, tiemout: 5m}}')).toEqual([
      'error 6:28 ~.tools.t.four_eyes | ~.tools.t.four_eyes: this must be true or false',
      'error 6:31 ~.tools.t.tiemout | ~.tools.t.tiemout: unknown key; did you mean timeout?',
    ]);
  });
});

it('a write timeout below the longest wait causes a warning', () => {
  const lines = (limit: string) =>
    linesOf(
      read(
        `agent_id: x\nserver: {write_timeout: ${limit}}\nsecurity: {defer: {enabled: true, tools: {t: {timeout: 2m, to: "channel:console:*"}}}}\n`,
      ),
    );
  const message =
    'server.write_timeout cuts requests off after 2m0s, before the timeout of 2m0s is over; raise it or shorten the timeout';
  expect(lines('2m')).toEqual([`warning 3:56 security.defer.tools.t.timeout | ${message}`]);
  expect(lines('2m1s')).toEqual([]);
  expect(lines('0s')).toEqual([]);
});

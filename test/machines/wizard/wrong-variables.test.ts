import { describe, expect, it } from 'vitest';
import { type AgentAnswers, firstAnswers } from '../../../src/machines/wizard/agent-answers.ts';
import { wrongKey, wrongVariables } from '../../../src/machines/wizard/wrong-variables.ts';

const control = (name: string) =>
  `${name} holds a line break or another control character; keep it with secret set`;

function security(variables: Record<string, string>): Partial<AgentAnswers> {
  return { security: { variables, passphrase: '' } };
}

function skills(variables: Record<string, string>): Partial<AgentAnswers> {
  return { skills: { names: [], variables } };
}

function many(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`A${index}`, 'x']));
}

it.each(['', 'sk-123', '!', '~', 'x'.repeat(8_192)])('the key %j is accepted', (key) => {
  expect(wrongKey(key)).toBeNull();
});

it.each([' sk-123', 'sk-123 ', 'sk 123', 'sk-123\n', 'schlüssel', '\x7f', 'x'.repeat(8_193)])(
  'the key %j is refused and not repeated',
  (key) => {
    expect(wrongKey(key)).toBe('the key holds characters that no key has; copy it again');
  },
);

describe('a variable name', () => {
  it.each(['A', 'SHOP_KEY', '_X', 'A1', 'SERVICE_TOKEN', 'A'.repeat(128)])(
    '%s is accepted',
    (name) => {
      expect(
        wrongVariables('security', { ...firstAnswers, ...security({ [name]: 'x' }) }),
      ).toBeNull();
    },
  );

  it.each(['', 'shop_key', 'SHOPkEY', 'xSHOP', 'SHOPx', '1A', 'A-B', 'A B', 'Ä', 'A\n'])(
    '%j is refused, because .env files do not accept it',
    (name) => {
      expect(wrongVariables('security', { ...firstAnswers, ...security({ [name]: 'x' }) })).toBe(
        'the name of a variable is upper-case letters, digits and underscores, such as SHOP_KEY',
      );
    },
  );

  it.each(['PATH', 'LD_PRELOAD', 'SERVICE_COMMAND'])(
    '%s is refused, because it controls programs',
    (name) => {
      expect(wrongVariables('security', { ...firstAnswers, ...security({ [name]: '' }) })).toBe(
        'this name affects how programs run, so a secret cannot have it; use another, such as SHOP_KEY',
      );
    },
  );

  it('that is longer than a secret name is refused', () => {
    const given = { ...firstAnswers, ...security({ ['A'.repeat(129)]: 'x' }) };
    expect(wrongVariables('security', given)).toBe(
      'the name of a secret is one to 128 letters, digits and underscores and does not begin with a digit, such as SHOP_KEY',
    );
  });

  it('that is valid for a secret but not for a script is accepted for the daemon and refused for a skill', () => {
    const token = { A: 'x', SERVICE_TOKEN: 'x' };
    expect(wrongVariables('security', { ...firstAnswers, ...security(token) })).toBeNull();
    expect(wrongVariables('skills', { ...firstAnswers, ...skills(token) })).toBe(
      'SERVICE_TOKEN affects how scripts run and is not passed on; use another name',
    );
  });
});

describe('the value of a variable', () => {
  it.each(['', 'a b', "it's", 'a `b`', '"\\${x}', 'ö😀', 'x'.repeat(8_192)])(
    'may be %j',
    (value) => {
      expect(wrongVariables('skills', { ...firstAnswers, ...skills({ A: value }) })).toBeNull();
    },
  );

  it.each([
    ['x'.repeat(8_193), 'A has more than 8192 characters'],
    ['a\nb', control('A')],
    ['\0', control('A')],
    ['\ud800', control('A')],
    ["'`", "A holds ' as well as `, which no line of .env can; keep it with secret set"],
  ])('may not be %j', (value, wrong) => {
    expect(wrongVariables('skills', { ...firstAnswers, ...skills({ A: value }) })).toBe(wrong);
  });
});

describe('the variables of a step', () => {
  it('may be a hundred', () => {
    const of = (count: number) => ({ ...firstAnswers, ...security(many(count)) });
    expect(wrongVariables('security', of(100))).toBeNull();
    expect(wrongVariables('security', of(101))).toBe('there are at most 100 variables');
    expect(wrongVariables('skills', of(101))).toBeNull();
  });

  const two = 'OPENAI_API_KEY has two values; set it in one place';
  const other: Partial<AgentAnswers> = {
    provider: 'openai',
    model: { ...firstAnswers.model, key: 'sk-1' },
  };

  it.each<[string, Partial<AgentAnswers>, string | null]>([
    ['may repeat those of another step', security({ OPENAI_API_KEY: 'sk-1' }), null],
    ['may leave the value to another step', security({ OPENAI_API_KEY: '' }), null],
    ['may have their own names', security({ SHOP_KEY: 'sk-2' }), null],
    ['may not contradict another step', security({ SHOP_KEY: 'x', OPENAI_API_KEY: 'sk-2' }), two],
    [
      'may set a value that another step leaves open',
      { model: firstAnswers.model, ...security({ OPENAI_API_KEY: 'sk-2' }) },
      null,
    ],
    ['are not reported for an error of another step', skills({ OPENAI_API_KEY: 'sk-2' }), null],
  ])('%s', (_, more, wrong) => {
    expect(wrongVariables('security', { ...firstAnswers, ...other, ...more })).toBe(wrong);
  });

  it('are empty where a step sets none', () => {
    expect(wrongVariables('fallback', { ...firstAnswers, ...security({ a: 'x' }) })).toBeNull();
  });
});

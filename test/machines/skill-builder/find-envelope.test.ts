import { describe, expect, it } from 'vitest';
import { type Envelope, findEnvelope } from '../../../src/machines/skill-builder/read-answer.ts';

const skill = { skill_md: '# A', scripts: { 'a.sh': ':' } };
const asking: Envelope = { message: 'Which city?', skill: null };
const text = JSON.stringify(asking);

describe('an envelope is found', () => {
  it.each<[string, string, Envelope]>([
    ['alone', text, asking],
    ['behind words', `Here: ${text}`, asking],
    ['after many words', `${'a '.repeat(40)}${text}`, asking],
    ['after a brace and many words', `{ ${'a '.repeat(40)}${text}`, asking],
    ['before words', `${text} Is that right?`, asking],
    ['before another object', `${text} {"a": 1}`, asking],
    ['after another object', `{"a": {"b": 1}, "c": 2} ${text}`, asking],
    ['directly after another object', `{}${text}`, asking],
    ['after braces without JSON', `Put {city} here. ${text}`, asking],
    ['after an unclosed brace', `A { is not closed. ${text}`, asking],
    ['after an unclosed quote', `12" wide: ${text}`, asking],
    ['inside braces without JSON', `{ see ${text} }`, asking],
    ['as the first of two', `${text} {"message": "b", "skill": null}`, asking],
    ['inside another object', `{"answer": ${text}}`, asking],
    ['with a skill', JSON.stringify({ message: 'Here.', skill }), { message: 'Here.', skill }],
    ['with a skill and no words', JSON.stringify({ skill }), { message: '', skill }],
    [
      'with a skill and words that are not a string',
      JSON.stringify({ message: 1, skill }),
      { message: '', skill },
    ],
    [
      'with a skill without scripts',
      JSON.stringify({ skill: { skill_md: '# A' } }),
      { message: '', skill: { skill_md: '# A', scripts: {} } },
    ],
    [
      'with a skill whose scripts are null',
      JSON.stringify({ skill: { skill_md: '# A', scripts: null } }),
      { message: '', skill: { skill_md: '# A', scripts: {} } },
    ],
    [
      'with a skill whose scripts have any other type',
      JSON.stringify({ skill: { skill_md: '', scripts: [1], more: true } }),
      { message: '', skill: { skill_md: '', scripts: [1] } },
    ],
    ['as a bare skill', JSON.stringify(skill), { message: '', skill }],
    [
      'as a bare skill next to words',
      JSON.stringify({ message: 'Here.', ...skill }),
      { message: 'Here.', skill },
    ],
    ['as a bare skill inside an object', JSON.stringify({ draft: skill }), { message: '', skill }],
    [
      'as a bare skill next to an invalid skill',
      JSON.stringify({ skill: 'forecast', ...skill }),
      { message: '', skill },
    ],
  ])('%s', (_, said, envelope) => {
    expect(findEnvelope(said)).toEqual(envelope);
  });

  it.each<[string, string]>([
    ['braces', 'Use {city} and }{'],
    ['an opening brace', '{'],
    ['a closing brace', '}'],
    ['quotes', 'Say "yes"'],
    ['a quote before a brace', 'x"}'],
    ['backslashes', 'C:\\{}\\'],
    ['a backslash before a quote', '\\"}'],
  ])('with %s in its words', (_, message) => {
    expect(findEnvelope(JSON.stringify({ message, skill: null }))).toEqual({
      message,
      skill: null,
    });
    expect(findEnvelope(`x \\${JSON.stringify({ message, skill: null })} }`)).toEqual({
      message,
      skill: null,
    });
  });

  it('after 31 other objects, but not after 32', () => {
    expect(findEnvelope('{}'.repeat(31) + text)).toEqual(asking);
    expect(findEnvelope(`a${'{}'.repeat(31)}${text}`)).toEqual(asking);
    expect(findEnvelope('{}'.repeat(32) + text)).toBeNull();
  });
});

describe('no envelope is found', () => {
  it.each<[string, string]>([
    ['in nothing', ''],
    ['in words', 'Which city?'],
    ['in JSON that is no object', `[1, "a", null]`],
    ['in braces without JSON', '{city}'],
    ['in an unclosed object', text.slice(0, -1)],
    ['in another object', '{"temperature": 21, "message": "warm"}'],
    ['in words without a skill', '{"message": "a"}'],
    ['without a skill and words', '{"skill": null}'],
    ['without a skill and with words that are not a string', '{"skill": null, "message": 1}'],
    ['with a skill that is a string', '{"message": "a", "skill": "high"}'],
    ['with a SKILL.md that is not a string', '{"message": "a", "skill": {"skill_md": 1}}'],
    ['with a skill that is a list', '{"message": "a", "skill": ["# A"]}'],
    ['inside two objects', `{"a": {"b": ${text}}}`],
    ['inside an object with other keys', `{"a": ${text}, "b": 1}`],
    ['in a list', `{"a": [${text}]}`],
    ['in an object with only null', '{"a": null}'],
    ['in an empty object', '{}'],
    ['in a string', `{"a": ${JSON.stringify(text)}, "b": 1}`],
  ])('%s', (_, said) => {
    expect(findEnvelope(said)).toBeNull();
  });
});

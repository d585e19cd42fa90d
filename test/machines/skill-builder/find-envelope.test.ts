import { describe, expect, it } from 'vitest';
import { type Envelope, findEnvelope } from '../../../src/machines/skill-builder/read-answer.ts';

const skill = { skill_md: '# A', scripts: { 'a.sh': ':' } };
const asking: Envelope = { message: 'Which city?', skill: null };
const text = JSON.stringify(asking);

describe('an envelope is found', () => {
  it.each<[string, string, Envelope]>([
    ['alone', text, asking],
    ['behind words', `Here: ${text}`, asking],
    ['behind many words', `${'a '.repeat(40)}${text}`, asking],
    ['behind a brace and many words', `{ ${'a '.repeat(40)}${text}`, asking],
    ['before words', `${text} Is that right?`, asking],
    ['before an object about other things', `${text} {"a": 1}`, asking],
    ['behind an object about other things', `{"a": {"b": 1}, "c": 2} ${text}`, asking],
    ['right behind an object about other things', `{}${text}`, asking],
    ['behind braces that are no JSON', `Put {city} here. ${text}`, asking],
    ['behind a brace that nothing closes', `A { is not closed. ${text}`, asking],
    ['behind a quote that nothing closes', `12" wide: ${text}`, asking],
    ['in braces that are no JSON', `{ see ${text} }`, asking],
    ['first of two', `${text} {"message": "b", "skill": null}`, asking],
    ['in an object around it', `{"answer": ${text}}`, asking],
    ['with a skill', JSON.stringify({ message: 'Here.', skill }), { message: 'Here.', skill }],
    ['with a skill and no words', JSON.stringify({ skill }), { message: '', skill }],
    [
      'with a skill and words that are none',
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
      'with a skill whose scripts are anything else, for others to look at',
      JSON.stringify({ skill: { skill_md: '', scripts: [1], more: true } }),
      { message: '', skill: { skill_md: '', scripts: [1] } },
    ],
    ['as a skill by itself', JSON.stringify(skill), { message: '', skill }],
    [
      'as a skill by itself with words beside it',
      JSON.stringify({ message: 'Here.', ...skill }),
      { message: 'Here.', skill },
    ],
    [
      'as a skill by itself in an object around it',
      JSON.stringify({ draft: skill }),
      { message: '', skill },
    ],
    [
      'as a skill by itself beside a skill that is none',
      JSON.stringify({ skill: 'forecast', ...skill }),
      { message: '', skill },
    ],
  ])('%s', (_, said, envelope) => {
    expect(findEnvelope(said)).toEqual(envelope);
  });

  it.each<[string, string]>([
    ['braces', 'Use {city} and }{'],
    ['a brace that opens', '{'],
    ['a brace that closes', '}'],
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

  it('behind 31 other objects, and not behind 32', () => {
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
    ['in braces that are no JSON', '{city}'],
    ['in an object that nothing closes', text.slice(0, -1)],
    ['in an object about other things', '{"temperature": 21, "message": "warm"}'],
    ['in words without a word on the skill', '{"message": "a"}'],
    ['in no skill without words', '{"skill": null}'],
    ['in no skill with words that are none', '{"skill": null, "message": 1}'],
    ['in words about a skill that is a text', '{"message": "a", "skill": "high"}'],
    ['in a skill whose SKILL.md is no text', '{"message": "a", "skill": {"skill_md": 1}}'],
    ['in a skill that is a list', '{"message": "a", "skill": ["# A"]}'],
    ['in two objects around it', `{"a": {"b": ${text}}}`],
    ['in an object around it with other things', `{"a": ${text}, "b": 1}`],
    ['in a list', `{"a": [${text}]}`],
    ['in an object with null alone', '{"a": null}'],
    ['in an empty object', '{}'],
    ['in a text', `{"a": ${JSON.stringify(text)}, "b": 1}`],
  ])('%s', (_, said) => {
    expect(findEnvelope(said)).toBeNull();
  });
});

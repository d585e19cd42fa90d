import { expect, it } from 'vitest';
import { linesOf, read } from './reading.ts';

const auth = 'auth: {providers: [{type: http_verifier, settings: {url: "https://a.example"}}]}';

function steppingUp(section: string, more = auth): string[] {
  return linesOf(read(`agent_id: x\nsecurity:\n  step_up: {${section}}\n${more}\n`));
}

it.each([
  'enabled: false',
  'enabled: false, tools: {t: gold}, acr_hierarchy: [silver]',
  'enabled: true, tools: {t: gold}',
  'enabled: true, tools: {t: gold, u: silver}, acr_hierarchy: [silver, gold]',
  'enabled: true, tools: {t: {acr: gold, optional: true}}, acr_hierarchy: [silver, gold]',
])('the step-up section accepts %s', (section) => {
  expect(steppingUp(section)).toEqual([]);
});

it('the step-up section needs tools when it is enabled', () => {
  expect(steppingUp('enabled: true, tools: {}')).toEqual([
    'error 3:35 security.step_up.tools | step-up is enabled and lists no tools; add tools: {<tool>: <acr>}, or set enabled: false',
  ]);
});

it('the step-up section refuses each acr outside the hierarchy', () => {
  expect(
    steppingUp('enabled: true, tools: {t: gold, u: tin, v: silver}, acr_hierarchy: [silver]'),
  ).toEqual([
    'error 3:39 security.step_up.tools.t | the required acr is not in acr_hierarchy; add it there, or require one that is',
    'error 3:48 security.step_up.tools.u | the required acr is not in acr_hierarchy; add it there, or require one that is',
  ]);
});

it.each([`'a"b'`, "'a\\b'", '"gol\u00e4"', '"a\\nb"'])(
  'the step-up section refuses the acr %s, which no header can carry',
  (acr) => {
    expect(steppingUp(`enabled: true, tools: {t: ${acr}}`)).toEqual([
      'error 3:39 security.step_up.tools.t | an acr must be printable ASCII without quotes and backslashes',
    ]);
  },
);

it('the step-up section is refused where no caller can step up', () => {
  expect(steppingUp('enabled: true, tools: {t: gold}', 'auth: {required: true}')).toEqual([
    'error 3:22 security.step_up.enabled | no caller can step up without auth.providers, so every call of these tools would be denied; add a provider, or set enabled: false',
  ]);
});

it('the step-up section checks the acr of a rule with more settings', () => {
  expect(
    steppingUp('enabled: true, tools: {t: {acr: tin}, u: {acl: gold}}, acr_hierarchy: [silver]'),
  ).toEqual([
    'error 3:39 security.step_up.tools.t | the required acr is not in acr_hierarchy; add it there, or require one that is',
    'error 3:54 security.step_up.tools.u | security.step_up.tools.u: this must be an acr, or {acr: <acr>, optional: true}',
    'error 3:55 security.step_up.tools.u.acl | security.step_up.tools.u.acl: unknown key; did you mean acr?',
  ]);
});

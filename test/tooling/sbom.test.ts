import { describe, expect, it } from 'vitest';
import { checkSbom } from '../../scripts/build/check-sbom.ts';

function sbomWith(licenses: object[], dependsOn: string[] = ['koa@3.3.0']): object {
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { 'bom-ref': 'holdpoint@0.1.0', type: 'library', name: 'holdpoint' } },
    components: [
      {
        ...{ 'bom-ref': 'koa@3.3.0', type: 'library', name: 'koa', version: '3.3.0', licenses },
        hashes: [{ alg: 'SHA-512', content: 'a'.repeat(128) }],
      },
    ],
    dependencies: [{ ref: 'holdpoint@0.1.0', dependsOn }],
  };
}

const mit = [{ license: { id: 'MIT' } }];

describe('the list of shipped packages', () => {
  it.each([[mit], [[{ expression: '(MIT OR GPL-3.0-or-later)' }]], [[]]])(
    'may name SPDX licences: %j',
    (licenses) => expect(() => checkSbom(sbomWith(licenses))).not.toThrow(),
  );

  it.each([
    [
      sbomWith([{ license: { id: 'MIT License' } }]),
      'the SBOM is not valid: /components/0/licenses/0/license/id',
    ],
    [
      sbomWith([{ expression: '(MIT OR Beerware-2)' }]),
      'koa@3.3.0 has the licence Beerware-2, which SPDX lacks',
    ],
    [sbomWith(mit, ['zod@4.0.0']), 'the SBOM names zod@4.0.0, and does not list it'],
    [{ ...sbomWith(mit), specVersion: 1.5 }, 'the SBOM is not valid: /specVersion'],
    [{ ...sbomWith(mit), invented: true }, 'the SBOM is not valid: '],
  ])('is refused with a fault', (sbom, message) => {
    expect(() => checkSbom(sbom)).toThrow(message);
  });

  it('has each component once', () => {
    const sbom = sbomWith(mit) as { components: object[] };
    const again = { ...sbom.components[0], description: 'again' };
    expect(() => checkSbom({ ...sbom, components: [...sbom.components, again] })).toThrow(
      'the SBOM has a component twice',
    );
  });
});

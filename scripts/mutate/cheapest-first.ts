import { readFileSync } from 'node:fs';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Runs properties after all other tests, as one test that notices a change is enough and they ask many times. */
export class CheapestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const asksOften = ({ moduleId }: TestSpecification) =>
      readFileSync(moduleId, 'utf8').includes("'fast-check'") ? 1 : 0;
    return files.toSorted((one, other) => asksOften(one) - asksOften(other));
  }
}

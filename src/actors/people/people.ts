// People: groups, on-call rotations, absences and delegations, and what a person may decide at one moment.

export { Delegating } from './delegating.ts';
export { PeopleDirectory } from './directory.ts';
export { nobody, type People } from './people-file.ts';
export { handoverAfter, onDuty, type Rotation, rotationFaults } from './rotation.ts';

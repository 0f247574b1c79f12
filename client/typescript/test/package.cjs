// The package as built, by both ways in.
const assert = require("node:assert/strict");
const {Step: required, regex} = require("maskd");

import("maskd").then(({Step: imported}) => {
  for (const Step of [required, imported]) new Step().open(1, regex("a")).take(1, 97).clear();
  assert.notEqual(required, imported);
});

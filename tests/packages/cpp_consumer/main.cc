// A program outside of the repository that uses the C++ client: the words of one mask.
#include <cstdio>
#include <vector>

#include "client/apply/make_applier.h"
#include "client/cpp/client.h"

int main(int argc, char** argv) {
  auto client = maskd::client::Client::Connect(
      {.address = argc > 1 ? argv[1] : "", .connect_timeout = absl::Seconds(60)});
  if (!client.ok()) return std::puts(client.status().ToString().c_str()), 1;
  auto stream = (*client)->OpenStream({.logits_width = 320});
  auto applier = maskd::client::MakeApplier("cpu");
  if (!stream.ok() || !applier.ok()) return 1;
  maskd::v1::Grammar grammar;
  grammar.set_kind("regex");
  grammar.set_source("[ab]c");
  maskd::client::Step step;
  maskd::client::StepResult result;
  step.Open(7, grammar);
  step.WaitForCompile(absl::Seconds(20));
  if (!(*stream)->Submit(step).ok()) return 1;
  if (!(*stream)->Collect(absl::Seconds(20), result).ok()) return 1;
  return std::printf("%s: %zu row\n", (*client)->ListTokenizers()->front().name().c_str(),
                     result.rows().size()),
         0;
}

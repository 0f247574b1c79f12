// maskctl. See command.h.
#include <string>
#include <vector>

#include "tools/cli/command.h"

int main(int argc, char** argv) {
  return maskd::cli::RunProgram(std::vector<std::string>(argv + 1, argv + argc));
}

// The packaged libgrpc++_reflection adds its plugin to all builders of the process as it is loaded,
// and channelz can be added in no other way. So an option, which gRPC asks before it builds, takes
// them out of a builder again.
#include "service/admin/server_plugins.h"

#include <string>
#include <vector>

#include <grpcpp/ext/channelz_service_plugin.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/impl/server_builder_option.h>

namespace maskd::service {
namespace {

class NoPlugins final : public grpc::ServerBuilderOption {
 public:
  void UpdateArguments(grpc::ChannelArguments* /*arguments*/) override {}
  void UpdatePlugins(std::vector<std::unique_ptr<grpc::ServerBuilderPlugin>>* plugins) override {
    std::erase_if(*plugins, [](const auto& plugin) {
      const std::string name = plugin->name();
      return name == "proto_server_reflection" || name == "channelz_service";
    });
  }
};

}  // namespace

std::unique_ptr<grpc::ServerBuilder> BuilderWithoutPlugins() {
  auto builder = std::make_unique<grpc::ServerBuilder>();
  builder->SetOption(std::make_unique<NoPlugins>());
  return builder;
}

// A builder has those plugins that were there when it was made; each is added once.
std::unique_ptr<grpc::ServerBuilder> BuilderWithPlugins() {
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::channelz::experimental::InitChannelzService();
  return std::make_unique<grpc::ServerBuilder>();
}

}  // namespace maskd::service

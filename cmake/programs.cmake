# What `cmake --install` puts where of the programs: the server (component server) and maskctl (component cli),
# with their manual pages and completions, which are made of what the programs say of themselves.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

set(manual ${PROJECT_BINARY_DIR}/manual)
add_custom_command(OUTPUT ${manual}/made
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${manual}
  COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/manual_pages.py
          $<TARGET_FILE:maskd> $<TARGET_FILE:maskctl> ${manual}
  COMMAND ${CMAKE_COMMAND} -E touch ${manual}/made
  DEPENDS maskd maskctl ${PROJECT_SOURCE_DIR}/cmake/manual_pages.py)
add_custom_target(manual ALL DEPENDS ${manual}/made)

install(TARGETS maskd COMPONENT server)
install(FILES ${manual}/man/maskd.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT server)

install(TARGETS maskctl COMPONENT cli)
install(DIRECTORY ${manual}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT cli
  FILES_MATCHING PATTERN "maskctl*.1")
install(FILES ${manual}/completions/bash/maskctl
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT cli)
install(FILES ${manual}/completions/zsh/_maskctl
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT cli)
install(FILES ${manual}/completions/fish/maskctl.fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT cli)

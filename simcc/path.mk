# Where make can build at all; setup.sh knows the same bytes. Included by a relative name, before a path is used.
NOT_IN_A_PATH := $$ ' " ` \ & ; ( ) < > | * ? [ ] % : =
ifneq ($(words $(CURDIR))$(strip $(foreach byte,$(NOT_IN_A_PATH),$(findstring $(byte),$(CURDIR)))),1)
$(error make cannot build in a path with a space or one of $(NOT_IN_A_PATH) in it: $(CURDIR))
endif
